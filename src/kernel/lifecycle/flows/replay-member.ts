/** Replays members of a flow. The state of a replayed member follows from its edges. */
import { prepareReplay } from '../prepare-replay.ts'
import type { ReplayRequest } from '../prepare-replay.ts'
import { REPLAY_CAP, RESOLVE_RESERVE } from '../../limits.ts'
import type { Edge, EdgeGroup, Execution, ExecutionId, Flow, FlowWalk, Outcome } from '../../model/records.ts'
import { refused } from '../../results.ts'
import type { Refused } from '../../results.ts'
import type { Tx } from '../../tx.ts'
import { countEffect, edgeEffect, newGroup, uncountEffect, verdictOf } from '../../rules/edge-group.ts'
import type { EdgeEffect } from '../../rules/edge-group.ts'
import { shiftCount } from '../flow-counts.ts'
import { reopenFlow } from '../flow-phases.ts'
import { revive } from '../phases.ts'
import { CONDITION_NOT_MET, isExcused, mayGrow, standingOf } from '../../rules/flow-state.ts'
import { inboundEdges } from './inbound.ts'
import { enterEdgeState } from './resolve-edges.ts'
import { memberOf } from './rank-order.ts'

/** An edge to write, and how it counted before. */
interface ChangedEdge {
  readonly edge: Edge
  readonly outcome: Outcome
  readonly effect: EdgeEffect
}

/** The group of a member recomputed from its edges, and the edges to write for it. */
export interface RecomputedGroup {
  readonly group: EdgeGroup | undefined
  readonly changed: ChangedEdge[]
  readonly payloadFrom: ExecutionId | undefined
  readonly failedUpstream: ExecutionId | undefined
  /** Whether an upstream was replayed by the same request. */
  readonly isReached: boolean
}

/**
 * Recomputes a group. Edges of upstreams that did not complete are checked again: their upstream may have been replayed. So are
 * the other edges of a member whose condition was not met: the condition may be met by the new results. Writes nothing.
 */
export function recomputeGroup(tx: Tx, flow: Flow, execution: Execution, requestId: string): RecomputedGroup {
  const member = memberOf(tx, execution)
  const old = member.group
  const changed: ChangedEdge[] = []
  const isByCondition = wasConditionUnmet(execution)
  if (old === undefined || old.total === 0 || (old.verdict === 'satisfied' && !isByCondition)) {
    return { group: old, changed, payloadFrom: member.payloadFrom, failedUpstream: undefined, isReached: false }
  }
  const group = newGroup({ policy: old.policy, need: old.need, losers: old.losers })
  group.total = old.total
  let payloadFrom: ExecutionId | undefined = undefined
  let failedUpstream: ExecutionId | undefined = undefined
  let isReached = false
  for (const edge of inboundEdges(tx, execution.id)) {
    const upstream = tx.get('execution', edge.upstreamId)
    if (upstream === undefined) return tx.fault('the upstream of an edge does not exist', execution.id)
    const isReplayed = upstream.lastReplay?.requestId === requestId
    if (isReplayed) isReached = true
    const isMet = edge.state === 'satisfied' && edge.outcome === undefined
    const mayChange = edge.state !== 'open' && (!isMet || (isByCondition && isReplayed))
    if (mayChange) refreshEdge(tx, group, edge, upstream, changed)
    if (edge.state === 'open') continue
    const { outcome, effect } = countedAs(group, edge, upstream)
    countEffect(group, outcome, effect)
    if (edge.state === 'impossible') failedUpstream = failedUpstream ?? edge.upstreamId
    else if (edge.hands?.as === 'payload' && edge.result !== undefined) payloadFrom = payloadFrom ?? edge.upstreamId
  }
  group.verdict = verdictOf(group, mayGrow(flow))
  group.decidedAt = group.verdict === 'pending' ? undefined : tx.now
  if (group.verdict === old.verdict) group.owedFrom = old.owedFrom
  return { group, changed, payloadFrom, failedUpstream, isReached }
}

function wasConditionUnmet({ state }: Execution): boolean {
  return state.phase === 'ended' && state.outcome === 'skipped' && state.reason === CONDITION_NOT_MET
}

/** Returns how a resolved edge counts in its group. */
function countedAs(group: EdgeGroup, edge: Edge, upstream: Execution): Omit<ChangedEdge, 'edge'> {
  const { state } = upstream
  const lost = state.phase === 'ended' ? state.outcome : 'failed'
  const outcome = edge.state === 'satisfied' ? (edge.outcome ?? 'completed') : lost
  return { outcome, effect: edgeEffect(group.policy, edge.onFailure, outcome, isExcused(upstream)) }
}

function refreshEdge(tx: Tx, group: EdgeGroup, edge: Edge, upstream: Execution, changed: ChangedEdge[]): void {
  const state = upstream.state
  const isCompleted = state.phase === 'ended' && state.outcome === 'completed'
  if (state.phase === 'ended' && !isCompleted) return
  const before = countedAs(group, edge, upstream)
  enterEdgeState(tx, edge, isCompleted ? 'satisfied' : 'open', upstream)
  changed.push({ edge, ...before })
}

export interface MemberReplay {
  readonly recomputed: RecomputedGroup
  readonly request: ReplayRequest
  /** Holds the member until all members that were skipped because of it are replayed too. */
  readonly isSubtree: boolean
}

/** Refuses a replay that the state of the flow or of the member's edges does not allow. */
export function refuseReplay(
  tx: Tx,
  flow: Flow,
  execution: Execution,
  { recomputed, isSubtree }: Pick<MemberReplay, 'recomputed' | 'isSubtree'>,
): Refused<'flow_ended' | 'flow_busy' | 'upstream_not_replayed' | 'graph_limit_exceeded'> | undefined {
  if (flow.state.phase === 'cancelled' || flow.walk?.purpose === 'remove') {
    return refused('flow_ended', { flowId: flow.id, executionId: execution.id })
  }
  // A second walk would overwrite the position of the first; a plain replay conflicts only with another replay.
  if (flow.walk !== undefined && (isSubtree || flow.walk.purpose === 'replay')) {
    return refused('flow_busy', { flowId: flow.id, executionId: execution.id })
  }
  // Its pending edges would never be resolved with the outcome of its first end.
  if (execution.member?.owesEdges === true) return refused('flow_busy', { flowId: flow.id, executionId: execution.id })
  if (recomputed.group?.verdict === 'impossible') {
    const upstream =
      recomputed.failedUpstream === undefined ? undefined : tx.get('execution', recomputed.failedUpstream)
    const nodes = upstream?.member === undefined ? [] : [upstream.member.name]
    return refused('upstream_not_replayed', { flowId: flow.id, executionId: recomputed.failedUpstream, nodes })
  }
  const limit = tx.room() - REPLAY_RESERVE
  return recomputed.changed.length > limit ? refused('graph_limit_exceeded', { limit }) : undefined
}

/** Records that a replay puts besides edges: the member, its attempt, its flow, and a reserve. */
const REPLAY_RESERVE = 6

/** Makes an ended member eligible again, or blocked if its edges are open. The caller puts the flow. */
export function replayMember(tx: Tx, flow: Flow, execution: Execution, replay: MemberReplay): void {
  const { recomputed, request, isSubtree } = replay
  const member = memberOf(tx, execution)
  const before = standingOf(execution)
  for (const { edge } of recomputed.changed) tx.put(edge)
  member.group = recomputed.group
  member.payloadFrom = recomputed.payloadFrom
  // From now on upstream results are looked up when the member is claimed: they may have changed.
  member.given = []
  flow.hasReplays = true
  member.delay = undefined
  member.owesEdges = false
  prepareReplay(tx, execution, request)
  const mustWait = recomputed.group?.verdict === 'pending' && recomputed.group.total > 0
  const isHeld = isSubtree || flow.state.phase === 'held'
  revive(tx, execution, request, mustWait ? 'dependencies' : isHeld ? 'hold' : undefined)
  if (flow.state.phase === 'ended') reopenFlow(tx, flow)
  shiftCount(tx, flow, execution, before)
}

/**
 * Replays a skipped member as a step of a walk. The walk follows the ranks, so all upstreams were visited before.
 * Returns false if there is no room for all edges: those that fit are opened, and the walk visits the member again.
 */
export function replaySkipped(tx: Tx, flow: Flow, execution: Execution, walk: FlowWalk): boolean {
  const state = execution.state
  if (state.phase !== 'ended' || state.outcome !== 'skipped' || execution.replayCount >= REPLAY_CAP) return true
  const root = walk.rootId === undefined ? undefined : tx.get('execution', walk.rootId)
  const request = root?.lastReplay
  if (request === undefined) return tx.fault('the root of a replay does not know its request', execution.id)
  const recomputed = recomputeGroup(tx, flow, execution, request.requestId)
  // Members that were skipped because of other upstreams are not part of this replay.
  if (!recomputed.isReached || recomputed.group?.verdict === 'impossible') return true
  const room = tx.room() - RESOLVE_RESERVE
  if (recomputed.changed.length > room) {
    reopenSome(tx, execution, recomputed.changed, room)
    return false
  }
  replayMember(tx, flow, execution, { recomputed, request, isSubtree: false })
  return true
}

/**
 * Opens some edges of a member. The member stays skipped until the last of them is open, and so does a group that cannot be
 * satisfied. The group of a member whose condition was not met is undecided meanwhile.
 */
function reopenSome(tx: Tx, execution: Execution, changed: readonly ChangedEdge[], count: number): void {
  const group = memberOf(tx, execution).group
  if (group === undefined) return tx.fault('a member with inbound edges has no group', execution.id)
  for (let i = 0; i < count; i++) {
    const change = changed[i]
    if (change === undefined) break
    tx.put(change.edge)
    uncount(group, change)
    if (change.edge.state === 'satisfied') countEffect(group, 'completed', 'met')
  }
  if (wasConditionUnmet(execution)) {
    group.verdict = 'pending'
    group.decidedAt = undefined
  }
  tx.put(execution)
}

function uncount(group: EdgeGroup, { outcome, effect }: ChangedEdge): void {
  // The upstream of a lost edge lives again, so its former outcome is unknown. Only the sum matters until the last edge is open.
  const isUnknown = effect === 'lost' && group.failed === 0
  uncountEffect(group, isUnknown ? 'skipped' : outcome, effect)
  if ((group.excused ?? 0) > group.skipped) group.excused = group.skipped
}
