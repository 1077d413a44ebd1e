/**
 * `ctx.flow`: calls of a handler to its own flow. Each is fenced and idempotent. A wait that is not satisfied parks the
 * execution: its promise never settles, and neither do later calls of the same run.
 */
import { inheritedRefs } from '../../client/define/budget.ts'
import { prepareNode } from '../../client/flows/flow-graph.ts'
import { nodeSettings } from '../../client/define/flow-node.ts'
import { declaredLimitsOf } from '../../client/limits/declared-limits.ts'
import { isExecutionId, memberIdOf } from '../../client/transport/ids.ts'
import type {
  AddMemberOptions,
  AddedMember,
  DependOptions,
  MemberFlow,
  MemberReference,
} from '../../client/define/member-flow.ts'
import { boolean, shape, unchecked } from '../../options/shape.ts'
import { checkInputName, checkNodeName } from '../../client/checks/hashed-names.ts'
import type { AnyTask } from '../../client/define/task.ts'
import { UPSTREAM_MARK, checkOnFailure, checkUpstreams, toleranceOf } from '../../client/define/upstreams.ts'
import type { AnyInputs, Upstream } from '../../client/define/upstreams.ts'
import type {
  ExecutionId,
  FlowId,
  Handover,
  EdgeTolerance,
  OperationInput,
  Outcome,
  PublicState,
  Refused,
  UpstreamInput,
} from '../../kernel/index.ts'
import { backoffMs, errorFields, sleep } from '../../runtime/index.ts'
import type { Log } from '../../runtime/index.ts'
import type { Reply } from '../../stores/batcher.ts'
import { EngineError } from '../../kernel/engine-error.ts'
import type { EarlyExit, LeasedExecution } from '../lease/leased-execution.ts'
import type { InputServices } from './upstream-results.ts'
import { BACKOFF_MAX_MS, retryUntilAnswered } from '../store/retry-until-answered.ts'
import type { HandlerRun, ParkResult } from '../steps/handler-run.ts'

const addOptions = shape<AddMemberOptions>()("{ after: allOf(parsed), as: 'pages' }", {
  ...nodeSettings,
  after: unchecked(),
  inputs: boolean,
  awaited: boolean,
  as: unchecked<string | false>(),
})
const dependOptions = shape<DependOptions>()("{ as: 'parsed' }", {
  as: unchecked<string | false>(),
  onFailure: checkOnFailure,
})

type GraphOperation = 'addExecutionToFlow' | 'addDependency'
type Accepted<N extends GraphOperation> = Exclude<Reply<N>['result'], Refused>

/** The parts of the handler context that `ctx.flow` uses. */
export interface MemberFlowSetting {
  readonly log: Log
  /** The outcome of this upstream, if the input of this name is available and comes from it. */
  readonly givenOutcome: (name: string, upstreamId: ExecutionId) => Outcome | undefined
  /** Returns the inputs, reading them again unless all of these names are available. */
  readonly inputsIncluding: (names: ReadonlySet<string>) => Promise<AnyInputs>
}

export class MemberFlowCalls implements MemberFlow {
  readonly #leased: LeasedExecution
  readonly #services: InputServices
  readonly #run: HandlerRun
  readonly #setting: MemberFlowSetting
  /** Names of the inputs that are expected after the next wait. */
  readonly #awaitedNames = new Set<string>()
  #waiting: Promise<void> | undefined

  constructor(leased: LeasedExecution, services: InputServices, run: HandlerRun, setting: MemberFlowSetting) {
    this.#leased = leased
    this.#services = services
    this.#run = run
    this.#setting = setting
  }

  get id(): FlowId | undefined {
    return this.#leased.claimed.flowId
  }

  /** Bound functions, so that handlers can destructure them. */
  readonly add: MemberFlow['add'] = (name, task, ...[input, options]) =>
    this.#logFailure(this.#call(() => this.#add(name, task as AnyTask, input, options as AddMemberOptions | undefined)))

  readonly dependsOn: MemberFlow['dependsOn'] = (member, options = {}) =>
    this.#logFailure(this.#call(() => this.#dependOn(member, options)))

  readonly member: MemberFlow['member'] = (name) =>
    asUpstream({ id: memberIdOf(this.#flowId(), checkNodeName(name)), node: name })

  readonly wait: MemberFlow['wait'] = () => this.#logFailure(this.#waitForInputs())

  async #waitForInputs(): Promise<AnyInputs> {
    this.#flowId()
    this.#run.throwInsideStep('ctx.flow.wait')
    this.#run.throwIfInterrupted()
    await this.#waitOnce()
    return await this.#call(() => this.#setting.inputsIncluding(this.#awaitedNames))
  }

  /** Prevents an unhandled rejection if the handler does not await its call. */
  #logFailure<T>(answer: Promise<T>): Promise<T> {
    answer.catch((error: unknown) =>
      this.#setting.log.warn(errorFields(error), 'ctx.flow call failed; the handler receives the error'),
    )
    return answer
  }

  /** If the dependencies can no longer be met, because another upstream has failed, ends this run as a wait would. */
  async #call<T>(call: () => Promise<T>): Promise<T> {
    try {
      return await this.#run.call(() => {
        this.#run.throwIfInterrupted()
        return call()
      })
    } catch (error) {
      if (error instanceof EngineError && error.code === 'edge_group_already_fired') await this.#waitOnce()
      throw error
    }
  }

  async #add<Name extends string, Returned>(
    name: Name,
    task: AnyTask,
    input: unknown,
    options: AddMemberOptions = {},
  ): Promise<AddedMember<Returned, Name>> {
    const flowId = this.#flowId()
    const leased = this.#leased
    const stored = checkNodeName(name)
    const { after, inputs = true, awaited = true, as, ...settings } = addOptions(options)
    const waits = after === undefined ? undefined : checkUpstreams(after, name)
    const { batcher, runtime } = this.#services
    const executionId = memberIdOf(flowId, name)
    const hands = handoverAs(as, name)
    // After a wait the handler runs again: a member whose result is available needs no call.
    const given = awaited ? this.#givenOutcome(executionId, hands) : undefined
    if (given !== undefined) return addedMember(executionId, name, given)
    const upstreams = (waits?.edges ?? []).map(({ upstream, input: as, onFailure }): UpstreamInput => {
      return { upstreamId: this.#idOf(upstream), hands: inputs ? inputNamed(as) : undefined, onFailure }
    })
    const policy = upstreams.length === 0 ? undefined : waits?.policy
    const { indexedTags } = batcher.store.settings
    const limits = declaredLimitsOf(batcher, runtime)
    const trace = batcher.tracing.current()
    const { namespace, budgets } = leased.claimed
    const setting = { namespace, indexedTags, limits, inherited: inheritedRefs(budgets), trace, codec: batcher.codec }
    const prepared = await prepareNode({ name, task, input, settings, policy }, executionId, setting)
    const { create } = prepared.input
    const { kind, state } = await this.#callFlow(
      'addExecutionToFlow',
      {
        flowId,
        executionId,
        name: stored,
        create,
        policy,
        after: upstreams,
        holder: { executionId: leased.id, fence: leased.claimed.fence },
        awaited: awaited ? { hands } : undefined,
      },
      prepared.payload === undefined ? [] : [prepared.payload],
    )
    // An earlier call may have come from another member, or without `awaited`.
    if (awaited && kind === 'already_member') await this.#depend(executionId, hands, undefined)
    else if (awaited) this.#expectResult(hands)
    return addedMember(executionId, name, state)
  }

  async #dependOn(member: MemberReference | string, options: DependOptions): Promise<void> {
    const { as, onFailure } = dependOptions(options)
    const { id, node } = this.#resolve(member)
    const hands = handoverAs(as, node)
    if (this.#givenOutcome(id, hands) === undefined) await this.#depend(id, hands, toleranceOf(onFailure))
  }

  async #depend(
    upstreamId: ExecutionId,
    hands: Handover | undefined,
    onFailure: EdgeTolerance | undefined,
  ): Promise<void> {
    const { id: downstreamId, claimed } = this.#leased
    await this.#callFlow('addDependency', {
      flowId: this.#flowId(),
      upstreamId,
      downstreamId,
      hands,
      onFailure,
      fence: claimed.fence,
    })
    this.#expectResult(hands)
  }

  #givenOutcome(upstreamId: ExecutionId, hands: Handover | undefined): Outcome | undefined {
    return hands?.as === 'input' ? this.#setting.givenOutcome(hands.name, upstreamId) : undefined
  }

  #expectResult(hands: Handover | undefined): void {
    if (hands?.as === 'input') this.#awaitedNames.add(hands.name)
  }

  /** Coalesces concurrent waits into one call. */
  #waitOnce(): Promise<void> {
    this.#waiting ??= this.#wait().finally(() => (this.#waiting = undefined))
    return this.#waiting
  }

  #wait(): Promise<void> {
    const { id: executionId, partition, claimed } = this.#leased
    const input = { executionId, fence: claimed.fence }
    return this.#run.park(
      () => this.#services.batcher.run(partition, 'waitForChildren', input),
      ({ result }): ParkResult<void> => {
        if (result.kind === 'refused') throw this.#run.refusalOf(result)
        if (result.kind === 'unwinding') throw this.#run.unwindingError()
        return result.kind === 'not_blocked' ? { answer: undefined } : { earlyExit: EARLY_EXITS[result.kind] }
      },
    )
  }

  /** Retries until the store replies, and while the flow is busy, for as long as the lease lasts. */
  async #callFlow<N extends GraphOperation>(
    operation: N,
    input: OperationInput<N>,
    blobs?: readonly Uint8Array[],
  ): Promise<Accepted<N>> {
    const { batcher, runtime, stopped } = this.#services
    const leased = this.#leased
    for (let busyCount = 1; ; busyCount++) {
      const call = () => batcher.run(leased.partition, operation, input, blobs)
      const { result } = await retryUntilAnswered(this.#services, leased, call)
      if (result.kind !== 'refused') return result as Accepted<N>
      if (result.code !== 'flow_busy') throw this.#refusal(result)
      await sleep(runtime, backoffMs(runtime, busyCount, BACKOFF_MAX_MS), stopped)
      leased.throwIfRefused()
    }
  }

  #refusal(refused: Refused): EngineError {
    const refusal = this.#run.refusalOf(refused)
    if (refusal.code !== 'edge_group_already_fired') return refusal
    return new EngineError(refusal.code, { ...refusal.detail, message: FIRED })
  }

  #flowId(): FlowId {
    const { flowId } = this.#leased.claimed
    if (flowId !== undefined) return flowId
    throw new EngineError('execution_not_in_flow', { executionId: this.#leased.id, message: ALONE })
  }

  #resolve(member: MemberReference | string): { readonly id: ExecutionId; readonly node?: string | undefined } {
    if (typeof member !== 'string') return { id: this.#idOf(member), node: member.node }
    return isExecutionId(member) ? { id: member } : this.member(member)
  }

  #idOf(upstream: Upstream & { readonly id?: unknown }): ExecutionId {
    const { id, node } = upstream
    return typeof id === 'string' && isExecutionId(id) ? id : memberIdOf(this.#flowId(), node)
  }
}

const EARLY_EXITS: Readonly<
  Record<Exclude<Reply<'waitForChildren'>['result']['kind'], 'refused' | 'not_blocked' | 'unwinding'>, EarlyExit>
> = {
  parked: 'parked',
  already_parked: 'parked',
  skipped: 'skipped',
  already_skipped: 'skipped',
  cancelled: 'cancelled',
  already_cancelled: 'cancelled',
}

const ALONE = 'The execution is not a member of a flow: make its task a node of a flow, and submit the flow.'
const FIRED =
  'A running member can depend on another member only if it waits for all of its upstreams: declare it with allOf, or with no upstreams.'

function addedMember<Name extends string>(id: ExecutionId, node: Name, state: PublicState) {
  return asUpstream({ id, node, state })
}

function asUpstream<M extends MemberReference>(member: M): M {
  return Object.defineProperty(member, UPSTREAM_MARK, { value: true })
}

function handoverAs(as: unknown, name: string | undefined): Handover | undefined {
  if (as === false) return undefined
  const given = as ?? name
  return given === undefined ? undefined : inputNamed(given)
}

function inputNamed(name: unknown): Handover {
  return { as: 'input', name: checkInputName(name, 'as') }
}
