/**
 * Members that a worker without a connection to the store adds to the flow of its execution. The execution waits for them without
 * a worker: the wait ends its lease, and its handler runs again from the start when they have ended.
 */
import { budgetsOf, publicState } from '../../kernel/index.ts'
import type {
  EdgeTolerance,
  Execution,
  ExecutionId,
  FlowId,
  Handover,
  OperationInput,
  PublicState,
  UpstreamInput,
} from '../../kernel/index.ts'
import { EngineError } from '../../kernel/engine-error.ts'
import { checkInputName, checkNodeName, storedInputName } from '../checks/hashed-names.ts'
import { inheritedRefs } from '../define/budget.ts'
import type { NodeSettings } from '../define/flow-node.ts'
import type { AnyTask } from '../define/task.ts'
import { UPSTREAM_MARK, checkUpstreams, toleranceOf } from '../define/upstreams.ts'
import type { OnFailure, Upstream, Upstreams } from '../define/upstreams.ts'
import { prepareNode } from '../flows/flow-graph.ts'
import { declaredLimitsOf } from '../limits/declared-limits.ts'
import type { Session } from '../session.ts'
import { isExecutionId, memberIdOf } from '../transport/ids.ts'
import { unwrap } from '../transport/unwrap.ts'
import { readableInputs } from './claimed-lease.ts'
import { endingLease } from './ending-lease.ts'
import { fenced, heldExecution } from './fenced.ts'

export interface LeaseMemberInput {
  /** Its name in the flow. */
  readonly name: string
  readonly task: AnyTask
  readonly input: unknown
  readonly settings: NodeSettings
  /** Returns the members that it waits for, made from references by name. */
  readonly after: (member: (name: string) => Upstream) => Upstreams | undefined
  /** False waits for those without passing their results on. */
  readonly inputs?: boolean | undefined
  /** Whether the execution waits for it; true unless given. */
  readonly awaited?: boolean | undefined
  /** The name of its result among the inputs of the execution: its own unless given, none if false. */
  readonly as?: string | false | undefined
}

export interface LeaseDependInput {
  /** The name of a member, or its id. */
  readonly member: string
  /** The name of its result among the inputs of the execution: its own unless given, none if false. An id has no name. */
  readonly as?: string | false | undefined
  readonly onFailure?: OnFailure | undefined
}

type Stopped = {
  readonly kind: 'parked' | 'already_parked' | 'skipped' | 'already_skipped' | 'cancelled' | 'already_cancelled'
}

export type LeaseAdded =
  { readonly kind: 'added' | 'already_member'; readonly id: ExecutionId; readonly state: PublicState } | Stopped

export type LeaseDepended = { readonly kind: 'added' | 'already_added'; readonly id: ExecutionId } | Stopped

export type LeaseMembersWaited =
  { readonly kind: 'ready'; readonly inputs: Readonly<Record<string, unknown>> | undefined } | Stopped

export class LeaseMembers {
  readonly #session: () => Session

  constructor(session: () => Session) {
    this.#session = session
  }

  /**
   * Adds a member, which the execution waits for. Idempotent per name. If the execution cannot wait for it, because another
   * member that it waits for has failed, it ends as it would at the wait.
   */
  async add(id: string, lease: string, member: LeaseMemberInput): Promise<LeaseAdded> {
    const session = this.#session()
    const execution = await heldExecution(session, id, lease)
    if (execution.unwinding !== undefined) return await addedBefore(session, execution, member.name)
    return await this.#orStopped(id, lease, () => add(session, execution, { ...fenced(session, id, lease), member }))
  }

  /** Makes the execution wait for an existing member of its flow. Idempotent per member. Ends the execution as `add` does. */
  async dependOn(id: string, lease: string, { member, as, onFailure }: LeaseDependInput): Promise<LeaseDepended> {
    const session = this.#session()
    const execution = await heldExecution(session, id, lease)
    const flowId = flowOf(execution)
    const isId = isExecutionId(member)
    const upstreamId = isId ? session.resolve(member) : memberIdOf(flowId, checkNodeName(member))
    const name = as ?? (isId ? false : member)
    const hands = name === false ? undefined : handsAs(checkInputName(name, 'as'))
    const edge = { flowId, upstreamId, hands, onFailure: toleranceOf(onFailure) }
    if (execution.unwinding !== undefined) return await dependedBefore(session, execution, edge)
    const { executionId: downstreamId, fence } = fenced(session, id, lease)
    return await this.#orStopped(id, lease, () => depend(session, { ...edge, downstreamId, fence }))
  }

  /** Waits until everything that the execution depends on has ended, and returns its inputs. Without a worker until then. */
  async wait(id: string, lease: string): Promise<LeaseMembersWaited> {
    const session = this.#session()
    const waited = await endingLease(
      session,
      id,
      lease,
      async (holder) => unwrap((await session.run(holder.executionId, 'waitForChildren', holder)).result),
      ({ kind }) => kind === 'not_blocked' || kind === 'unwinding',
    )
    if (waited.kind === 'unwinding') throw stopError(await heldExecution(session, id, lease))
    if (waited.kind !== 'not_blocked') return { kind: waited.kind }
    return { kind: 'ready', inputs: await readableInputs(session, session.resolve(id)) }
  }

  /** A call that the execution cannot wait for any more ends it as the wait does. */
  async #orStopped<Result>(id: string, lease: string, call: () => Promise<Result>): Promise<Result | Stopped> {
    try {
      return await call()
    } catch (error) {
      if (!(error instanceof EngineError) || error.code !== 'edge_group_already_fired') throw error
      const waited = await this.wait(id, lease)
      if (waited.kind === 'ready') throw error
      return waited
    }
  }
}

interface Addition extends ReturnType<typeof fenced> {
  readonly member: LeaseMemberInput
}

async function add(session: Session, execution: Execution, { executionId, fence, member }: Addition) {
  const { name, task, input, settings, after, inputs = true, awaited = true, as } = member
  const flowId = flowOf(execution)
  const stored = checkNodeName(name)
  const id = memberIdOf(flowId, name)
  const hands = as === false ? undefined : handsAs(checkInputName(as ?? name, 'as'))
  const given = after((node) => Object.defineProperty({ node }, UPSTREAM_MARK, { value: true }))
  const waits = given === undefined ? undefined : checkUpstreams(given, name)
  const upstreams = (waits?.edges ?? []).map(({ upstream, input: passed, onFailure }): UpstreamInput => {
    const upstreamId = memberIdOf(flowId, upstream.node)
    return { upstreamId, hands: inputs ? handsAs(storedInputName(passed)) : undefined, onFailure }
  })
  const policy = upstreams.length === 0 ? undefined : waits?.policy
  const setting = {
    namespace: execution.namespace,
    indexedTags: session.settings.indexedTags,
    limits: declaredLimitsOf(session.batcher, session.runtime),
    inherited: inheritedRefs(budgetsOf(execution)),
    codec: session.batcher.codec,
  }
  const prepared = await prepareNode({ name, task, input, settings, policy }, id, setting)
  const blobs = prepared.payload === undefined ? [] : [prepared.payload]
  const call = {
    ...{ flowId, executionId: id, name: stored, create: prepared.input.create, policy, after: upstreams },
    holder: { executionId, fence },
    awaited: awaited ? { hands } : undefined,
  }
  const { kind, state } = unwrap((await session.run(flowId, 'addExecutionToFlow', call, blobs)).result)
  if (awaited && kind === 'already_member') {
    // Another member may have added it, or this one without waiting for it.
    await depend(session, { flowId, upstreamId: id, downstreamId: executionId, hands, onFailure: undefined, fence })
  }
  return { kind, id, state }
}

interface MemberEdge {
  readonly flowId: FlowId
  readonly upstreamId: ExecutionId
  readonly hands: Handover | undefined
  readonly onFailure: EdgeTolerance | undefined
}

async function depend(session: Session, edge: OperationInput<'addDependency'> & MemberEdge): Promise<LeaseDepended> {
  const { kind } = unwrap((await session.run(edge.flowId, 'addDependency', edge)).result)
  return { kind, id: edge.upstreamId }
}

/** A run that undoes steps finds the edges that were added before. Without the fence of the run, no other one is added. */
async function dependedBefore(session: Session, execution: Execution, edge: MemberEdge): Promise<LeaseDepended> {
  const { result } = await session.run(edge.flowId, 'addDependency', { ...edge, downstreamId: execution.id })
  if (result.kind === 'refused') throw stopError(execution)
  return { kind: result.kind, id: edge.upstreamId }
}

/** A run that undoes steps finds the members that were added before, and adds none. */
async function addedBefore(session: Session, execution: Execution, name: string): Promise<LeaseAdded> {
  checkNodeName(name)
  const executionId = memberIdOf(flowOf(execution), name)
  const { result } = await session.run(executionId, 'describeExecution', { executionId })
  if (result.kind === 'refused') throw stopError(execution)
  return { kind: 'already_member', id: executionId, state: publicState(result.execution.state) }
}

function stopError({ id: executionId, unwinding }: Execution): EngineError {
  return new EngineError(`execution_${unwinding?.outcome ?? 'cancelled'}`, { executionId })
}

function flowOf({ id: executionId, member }: Execution): FlowId {
  if (member !== undefined) return member.flowId
  const message = 'The execution is not a member of a flow: submit a flow with its task as a node.'
  throw new EngineError('execution_not_in_flow', { executionId, message })
}

function handsAs(name: string): Handover {
  return { as: 'input', name }
}
