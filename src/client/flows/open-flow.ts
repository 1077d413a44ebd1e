/** A flow whose graph is built step by step. It does not end before it is sealed. */
import { boolean, oneOf, required, shape, unchecked, wholeNumber } from '../../options/shape.ts'
import { RESOLVE_PAGE_COUNT } from '../../kernel/index.ts'
import type { ExecutionId, Handover, PolicyInput, PublicFlowState } from '../../kernel/index.ts'
import { EngineError } from '../../kernel/engine-error.ts'
import { unwrap } from '../transport/unwrap.ts'
import type { ExecutionHandle } from '../executions/execution-handle.ts'
import { FlowHandle } from './flow-handle.ts'
import type { SinkResults } from './flow-handle.ts'
import { FlowMember } from './flow-member.ts'
import type { Jsonify } from '../define/jsonify.ts'
import type { AddArguments } from '../define/member-flow.ts'
import { nodeSettings } from '../define/flow-node.ts'
import type { NodeSettings } from '../define/flow-node.ts'
import { isExecutionId, memberIdOf } from '../transport/ids.ts'
import { checkInputName, checkNodeName, storedInputName } from '../checks/hashed-names.ts'
import { invalidInput } from '../checks/names.ts'
import type { AnyTask, Task } from '../define/task.ts'
import { checkLosers, checkOnFailure, checkUpstreams, toleranceOf } from '../define/upstreams.ts'
import type { AfterOption, NoInputs, OnFailure, Upstream } from '../define/upstreams.ts'

export type AddOptions<Given> = NodeSettings & AfterOption<Given>

const addOptions = shape<AddOptions<NoInputs>>()('{ after: allOf(part) }', {
  ...nodeSettings,
  after: unchecked(),
  inputs: boolean,
})

export interface DependencyOptions {
  /** The name of the result among the downstream's inputs: the member's own unless given, none if false. */
  readonly as?: string | false
  /** True passes the result as the payload, replacing the one that the member was added with. */
  readonly payload?: boolean
  /** What happens to the downstream if the upstream does not complete. Unless `fail`, the input is an outcome. */
  readonly onFailure?: OnFailure
  /** Refuses the edge if the graph has changed since this revision. */
  readonly expectedRevision?: number
}

const dependencyOptions = shape<DependencyOptions>()("{ as: 'parsed' }", {
  as: (as, field) => as !== false && checkInputName(as, field),
  payload: boolean,
  onFailure: checkOnFailure,
  expectedRevision: wholeNumber(0),
})

const quorumNeed = wholeNumber(1)
const policyInput = shape<PolicyInput>()("{ policy: 'quorum', need: 2 }", {
  policy: required(oneOf<PolicyInput['policy']>({ all_of: true, any_of: true, quorum: true, ended: true })),
  need: quorumNeed,
  losers: checkLosers,
})

/** A member by its handle, its name or its id. */
export type MemberRef = ExecutionHandle | string

export class OpenFlow extends FlowHandle<SinkResults> {
  /**
   * Adds a member together with its upstreams, atomically. Idempotent per name.
   *
   * @example
   * const part = await open.add('part-1', importPart, { file: 'a.csv' })
   * await open.add('report', report, {}, { after: allOf(part) })
   * await open.seal()
   */
  async add<const Name extends string, Input, Parsed, Returned, Output, Inputs, Given>(
    name: Name,
    task: Task<Input, Parsed, Returned, Output, Inputs, Given>,
    ...rest: AddArguments<NoInfer<Input>, NoInfer<Given>, AddOptions<NoInfer<Given>>>
  ): Promise<FlowMember<Output, Name, Jsonify<Returned>>> {
    const [input, options] = rest
    return await this.#add(name, task, input, options as AddOptions<NoInputs> | undefined)
  }

  async #add<Output, Name extends string, Returned>(
    name: Name,
    task: AnyTask,
    input: unknown,
    options: AddOptions<NoInputs> = {},
  ): Promise<FlowMember<Output, Name, Returned>> {
    const stored = checkNodeName(name)
    const { after, inputs = true, ...settings } = addOptions(options)
    const waits = after === undefined ? undefined : checkUpstreams(after, name)
    refuseTooMany(name, waits?.edges.length ?? 0)
    const upstreams = (waits?.edges ?? []).map(({ upstream, input: as, onFailure }) => {
      const hands: Handover | undefined = inputs ? { as: 'input', name: storedInputName(as) } : undefined
      return { upstreamId: this.#idOf(upstream, name), hands, onFailure }
    })
    const executionId = memberIdOf(this.id, name)
    const policy = waits === undefined || upstreams.length === 0 ? undefined : waits.policy
    const member = { name: stored, task, input, settings, policy, executionId, after: upstreams }
    const { kind } = unwrap(await this.client.try.addNewMember(this.id, member))
    return this.#member(executionId, name, task, kind === 'added' ? 'created' : 'joined')
  }

  /** Makes an existing execution a member. It must be in the flow's partition. */
  async addExecution<Output, const Name extends string>(
    execution: ExecutionHandle<Output> | string,
    name: Name,
  ): Promise<FlowMember<Output, Name>> {
    const id = this.client.try.resolve(typeof execution === 'string' ? execution : execution.id)
    unwrap(await this.client.try.addExecutionToFlow(this.id, id, name))
    return this.#member(id, name)
  }

  /** Makes one member wait for another. An upstream that has ended counts at once. */
  async depend(upstream: MemberRef, downstream: MemberRef, options: DependencyOptions = {}): Promise<void> {
    const { expectedRevision, onFailure: given, ...passed } = dependencyOptions(options)
    const onFailure = toleranceOf(given)
    const hands = handoverOf(upstream, passed)
    const up = this.#resolve(upstream)
    const down = this.#resolve(downstream)
    const result = await this.client.try.addDependency(this.id, up, down, { hands, onFailure, expectedRevision })
    if (result.kind === 'refused' && result.code === 'invalid_input') {
      throw new EngineError(result.code, { ...result.detail, field: 'payload', message: ONE_PAYLOAD })
    }
    unwrap(result)
  }

  /** Sets the group policy of a member's upstreams. Must precede its first edge. */
  async setPolicy(member: MemberRef, policy: PolicyInput): Promise<void> {
    unwrap(await this.client.try.setEdgeGroupPolicy(this.id, this.#resolve(member), checkPolicy(policy)))
  }

  /** Closes the graph: held members start, and the flow ends with its last member. */
  async seal(): Promise<PublicFlowState> {
    return unwrap(await this.client.try.sealFlow(this.id)).state
  }

  #member<Output, Name extends string, Returned>(
    id: ExecutionId,
    node: Name,
    task?: AnyTask,
    created?: 'created' | 'joined',
  ): FlowMember<Output, Name, Returned> {
    return new FlowMember<Output, Name, Returned>(this.client, { flowId: this.id, node, id }, task, created)
  }

  #resolve(member: MemberRef): ExecutionId {
    if (typeof member !== 'string') return member.id
    return isExecutionId(member) ? member : memberIdOf(this.id, checkNodeName(member))
  }

  #idOf(upstream: Upstream, name: string): ExecutionId {
    if (upstream instanceof FlowMember && upstream.flowId === this.id) return upstream.id
    throw invalidInput(
      'after',
      `Node '${name}' waits for '${upstream.node}', which is no member of this flow: pass a handle that add(…) or member(…) returned.`,
    )
  }
}

const ONE_PAYLOAD =
  'One result can be the payload of a member that waits until all of its upstreams, or any of them, have completed. An edge with onFailure passes an outcome, which cannot be the payload.'

/** A member and its edges are added in one operation, which limits their number. */
function refuseTooMany(name: string, count: number): void {
  if (count <= RESOLVE_PAGE_COUNT) return
  throw new EngineError('graph_limit_exceeded', {
    limit: RESOLVE_PAGE_COUNT,
    nodes: [name],
    message: `Node '${name}' cannot be added with ${count} upstreams at once; the limit is ${RESOLVE_PAGE_COUNT}. Create the flow with hold, and add the others with depend(…).`,
  })
}

function handoverOf(
  upstream: MemberRef,
  { as, payload }: Pick<ReturnType<typeof dependencyOptions>, 'as' | 'payload'>,
): Handover | undefined {
  if (payload === true) {
    if (as === undefined) return { as: 'payload' }
    throw invalidInput('as', 'A result is passed under a name or as the payload, not both.')
  }
  const node = nodeOf(upstream)
  if (as === false || (as === undefined && node === undefined)) return undefined
  return { as: 'input', name: checkInputName(as ?? node, 'as') }
}

/** Returns the node name of a reference; undefined for an id. */
function nodeOf(member: MemberRef): string | undefined {
  if (typeof member === 'string') return isExecutionId(member) ? undefined : member
  return 'node' in member && typeof member.node === 'string' ? member.node : undefined
}

function checkPolicy(given: PolicyInput): PolicyInput {
  const parsed = policyInput(given, 'policy')
  return parsed.policy === 'quorum' ? { ...parsed, need: quorumNeed(parsed.need, 'policy.need') } : parsed
}
