/**
 * Adds an execution to a flow: an existing one, or a new one together with its inbound edges, so that it cannot run
 * before them. A running member may add one that it will wait for.
 */
import { enterQueue, refuseQueues } from '../../lifecycle/queues.ts'
import { refuseHeld } from '../../lifecycle/lanes.ts'
import type { HoldRefusal } from '../../lifecycle/lanes.ts'
import { delayOf, newExecution, storeExecution } from '../../lifecycle/new-execution.ts'
import type { CreateInput } from '../../lifecycle/new-execution.ts'
import { FLOW_MEMBER_MAX, IN_DEGREE_MAX, RESOLVE_PAGE_COUNT, RESOLVE_RESERVE } from '../../limits.ts'
import type { LeaseRefusal } from '../../lifecycle/fence.ts'
import { block } from '../../lifecycle/phases.ts'
import type { EdgeTolerance, Execution, ExecutionId, Flow, FlowId, Handover } from '../../model/records.ts'
import { refused, refusedFor } from '../../results.ts'
import type { Refused } from '../../results.ts'
import { isKeptForParent } from '../../rules/execution-state.ts'
import { publicState } from '../../model/public-state.ts'
import type { PublicState } from '../../model/public-state.ts'
import type { Tx } from '../../tx.ts'
import { addEdge, decideGrownGroup } from './add-dependency.ts'
import { ALL_OF, newGroup, waitsForAll } from '../../rules/edge-group.ts'
import type { PolicyInput } from '../../rules/edge-group.ts'
import { countNew, putFlow } from '../../lifecycle/flow-counts.ts'
import {
  findFlow,
  findHolder,
  flowNotFound,
  notInFlow,
  refuseUnlessOpen,
  revisionOf,
} from '../../lifecycle/flows/flow-guards.ts'
import type { HolderInput } from '../../lifecycle/flows/flow-guards.ts'
import { memberOf, nextRank, raiseRank } from '../../lifecycle/flows/rank-order.ts'
import { attachMember, isAmbiguous, link, mayHandPayload, refuseTooMany } from '../../lifecycle/flows/attach-member.ts'

export interface UpstreamInput {
  readonly upstreamId: ExecutionId
  readonly hands?: Handover | undefined
  readonly onFailure?: EdgeTolerance | undefined
}

export interface AddExecutionInput {
  readonly flowId: FlowId
  readonly executionId: ExecutionId
  /** Its name in the graph. */
  readonly name: string
  /** The execution to create if it does not exist. If absent, only an existing one is added. */
  readonly create?: CreateInput | undefined
  readonly policy?: PolicyInput | undefined
  readonly after: readonly UpstreamInput[]
  /** The running member that adds it. */
  readonly holder?: HolderInput | undefined
  /** Whether the holder waits for it, and the name under which it receives the result. */
  readonly awaited?: Pick<UpstreamInput, 'hands' | 'onFailure'> | undefined
}

export type AddExecutionResult =
  | {
      readonly kind: 'added' | 'already_member'
      readonly executionId: ExecutionId
      readonly state: PublicState
      readonly memberCount: number
      readonly revision: number
    }
  | LeaseRefusal
  | Refused<
      | 'flow_not_found'
      | 'flow_ended'
      | 'flow_sealed'
      | 'flow_busy'
      | 'execution_not_found'
      | 'execution_in_flow'
      | 'execution_is_child'
      | 'execution_not_in_flow'
      | 'execution_ended'
      | 'not_runnable'
      | 'follow_up_pending'
      | 'edge_group_already_fired'
      | 'graph_limit_exceeded'
      | 'cycle_detected'
      | 'unreachable_quorum'
      | 'too_many_needs'
      | 'lane_draining'
      | 'lane_disabled'
      | 'invalid_input'
    >

export function addExecutionToFlow(tx: Tx, input: AddExecutionInput): AddExecutionResult {
  const flow = findFlow(tx, input.flowId)
  if (flow === undefined) return flowNotFound(input.flowId)
  const existing = tx.get('execution', input.executionId)
  if (existing?.member?.flowId === flow.id) return answer('already_member', flow, existing)
  const found = input.holder === undefined ? undefined : findHolder(tx, flow, input.holder)
  if (found?.kind === 'refused') return found
  const holder = found?.execution
  const closed = refuseUnlessOpen(flow, holder !== undefined)
  if (closed !== undefined) return closed
  if (existing === undefined && input.create === undefined) {
    return refused('execution_not_found', { executionId: input.executionId })
  }
  if (existing?.member !== undefined) return refusedFor('execution_in_flow', existing)
  if (existing !== undefined && isKeptForParent(existing)) return refusedFor('execution_is_child', existing)
  const upstreams: Upstream[] = []
  const missing = findUpstreams(tx, flow, input.after, upstreams)
  if (missing !== undefined) return missing
  const refusal =
    refuseMember(flow, existing, holder, input) ??
    (existing !== undefined || input.create === undefined ? undefined : refuseNew(tx, input.create, holder))
  if (refusal !== undefined) return refusal
  const place = findPlace(tx, flow, upstreams, input.awaited === undefined ? undefined : holder)
  if (place.kind === 'refused') return place

  for (const moved of place.moved) if (moved.id !== holder?.id) tx.put(moved)
  const execution = existing ?? newMember(tx, flow, input)
  attachMember(tx, flow, execution, { name: input.name, rank: place.rank, policy: input.policy })
  if (existing === undefined) tx.emit('execution_created', execution, { until: delayOf(execution) })
  linkUpstreams(tx, flow, execution, upstreams)
  if (holder !== undefined && input.awaited !== undefined) {
    const { hands, onFailure } = input.awaited
    addEdge(tx, { flow, upstream: execution, downstream: holder, hands, onFailure })
  }
  return answer('added', flow, execution)
}

interface Upstream {
  readonly execution: Execution
  readonly hands: Handover | undefined
  readonly onFailure: EdgeTolerance | undefined
}

function findUpstreams(
  tx: Tx,
  flow: Flow,
  after: readonly UpstreamInput[],
  upstreams: Upstream[],
): Refused<'execution_not_found' | 'execution_not_in_flow' | 'invalid_input'> | undefined {
  for (const { upstreamId: id, hands, onFailure } of after) {
    const upstream = tx.get('execution', id)
    if (upstream === undefined) return refused('execution_not_found', { executionId: id })
    if (upstream.member?.flowId !== flow.id) return notInFlow(flow, id)
    for (const other of upstreams) if (other.execution.id === id) return refused('invalid_input', { executionId: id })
    if (isAmbiguous({ hands, onFailure })) return refused('invalid_input', { executionId: id })
    upstreams.push({ execution: upstream, hands, onFailure })
  }
  return undefined
}

function refuseMember(
  flow: Flow,
  existing: Execution | undefined,
  holder: Execution | undefined,
  input: AddExecutionInput,
): Extract<AddExecutionResult, { kind: 'refused' }> | undefined {
  if (flow.memberCount >= FLOW_MEMBER_MAX) return refused('graph_limit_exceeded', { limit: FLOW_MEMBER_MAX })
  if (input.after.length > RESOLVE_PAGE_COUNT) return refused('graph_limit_exceeded', { limit: RESOLVE_PAGE_COUNT })
  const awaits = input.awaited === undefined ? 0 : 1
  const tooMany = refuseTooMany(flow, input.after.length + awaits, input.after.length)
  if (tooMany !== undefined) return tooMany
  const phase = existing?.state.phase
  if (existing?.removed !== undefined) return refusedFor('execution_ended', existing)
  if (existing?.followUp !== undefined) return refusedFor('follow_up_pending', existing)
  if (existing !== undefined && input.after.length > 0) {
    if (phase === 'ended') return refusedFor('execution_ended', existing)
    const isUnwinding = existing.unwinding !== undefined
    if (phase === 'active' || phase === 'suspended' || isUnwinding) return refusedFor('not_runnable', existing)
  }
  let payloadEdges = 0
  for (const edge of input.after) if (edge.hands?.as === 'payload') payloadEdges = payloadEdges + 1
  const policy = input.policy ?? ALL_OF
  const need = newGroup(policy).need
  if (!mayHandPayload(policy, need, payloadEdges)) {
    return refused('invalid_input', { executionId: input.executionId })
  }
  // A sealed flow accepts no more edges for its group.
  if (flow.state.phase === 'sealed' && need > input.after.length) {
    return refused('unreachable_quorum', { flowId: flow.id, nodes: [input.name] })
  }
  if (awaits === 0) return undefined
  const group = holder?.member?.group
  const handed = (holder?.member?.payloadEdgeCount ?? 0) + (input.awaited?.hands?.as === 'payload' ? 1 : 0)
  const { hands, onFailure } = input.awaited ?? {}
  if (isAmbiguous({ hands, onFailure })) return refused('invalid_input', { executionId: input.executionId })
  if (holder === undefined || !mayHandPayload(group ?? ALL_OF, group?.need ?? 0, handed)) {
    return refused('invalid_input', { executionId: input.executionId })
  }
  if (group === undefined) return undefined
  if (group.total >= IN_DEGREE_MAX) return refused('graph_limit_exceeded', { limit: IN_DEGREE_MAX })
  const mayGrow = group.verdict === 'pending' || (waitsForAll(group.policy) && group.verdict === 'satisfied')
  return mayGrow ? undefined : refusedFor('edge_group_already_fired', holder)
}

/** A drained lane takes what running work adds, so that the work can end. */
function refuseNew(
  tx: Tx,
  create: CreateInput,
  holder: Execution | undefined,
): HoldRefusal | ReturnType<typeof refuseQueues> {
  return (holder === undefined ? refuseHeld(tx, create) : undefined) ?? refuseQueues(tx, [create])
}

function newMember(tx: Tx, flow: Flow, input: AddExecutionInput): Execution {
  if (input.create === undefined) return tx.fault('a new member has no input to create it from', input.executionId)
  const execution = newExecution(tx, input.create, 0)
  execution.limits = withBudgetsOf(flow, execution.limits)
  enterQueue(tx, execution)
  storeExecution(tx, execution, input.create)
  return execution
}

/** A budget of the member takes the place of the same one of its flow. */
function withBudgetsOf({ budgets }: Flow, limits: Execution['limits']): Execution['limits'] {
  if (budgets === undefined) return limits
  const own = limits ?? []
  return own.concat(budgets.filter(({ limit }) => !own.some((other) => other.limit === limit)))
}

/** Links a new member to its upstreams, decides its group and counts it. Puts the member and the flow. */
function linkUpstreams(tx: Tx, flow: Flow, execution: Execution, upstreams: readonly Upstream[]): void {
  const phase = execution.state.phase
  const isFree = phase === 'eligible' || phase === 'delayed'
  if (isFree && upstreams.length > 0) block(tx, execution, 'dependencies')
  // A hold delays the start of work, and not the undoing of steps.
  else if (isFree && execution.unwinding === undefined && flow.state.phase === 'held') block(tx, execution, 'hold')
  for (const { execution: upstream, hands, onFailure } of upstreams) {
    link(tx, { flow, upstream, downstream: execution, hands, onFailure })
  }
  countNew(flow, execution)
  const last = upstreams[upstreams.length - 1]
  if (last === undefined) tx.put(execution)
  else decideGrownGroup(tx, flow, execution, last.execution.id)
  putFlow(tx, flow)
}

interface Place {
  readonly kind: 'found'
  readonly rank: number
  /** Members that move to other ranks. */
  readonly moved: Execution[]
}

/** Finds a rank after all upstreams and before the waiting holder, which moves if there is no rank between. */
function findPlace(
  tx: Tx,
  flow: Flow,
  upstreams: readonly Upstream[],
  holder: Execution | undefined,
): Place | Refused<'cycle_detected' | 'graph_limit_exceeded'> {
  let lowest = 0
  for (const upstream of upstreams) lowest = Math.max(lowest, memberOf(tx, upstream.execution).rank)
  if (holder === undefined) {
    return { kind: 'found', rank: Math.max(nextRank(flow.memberCount), lowest + 1), moved: [] }
  }
  const between = memberOf(tx, holder).rank - 1
  if (between > lowest) return { kind: 'found', rank: between, moved: [] }
  for (const upstream of upstreams) {
    if (upstream.execution.id === holder.id) return refused('cycle_detected', { path: [memberOf(tx, holder).name] })
  }
  const executions = upstreams.map(({ execution }) => execution)
  const order = raiseRank(tx, executions, holder, lowest + 2)
  if (order.kind === 'refused') return order
  const limit = tx.room() - upstreams.length - RESOLVE_RESERVE
  if (order.moved.length > limit) return refused('graph_limit_exceeded', { limit })
  return { kind: 'found', rank: lowest + 1, moved: order.moved }
}

function answer(kind: 'added' | 'already_member', flow: Flow, execution: Execution): AddExecutionResult {
  return {
    kind,
    executionId: execution.id,
    state: publicState(execution.state),
    memberCount: flow.memberCount,
    revision: revisionOf(flow),
  }
}
