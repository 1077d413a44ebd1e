/**
 * Applies the end of a member to its flow, in the same operation: resolves edges, decides groups, and releases, skips
 * or cancels members. Counts stay exact, and a sealed flow ends with its last member. Work beyond the limit of one
 * operation is marked as pending on a record; the due pass resumes it.
 */
import { OPEN_EDGES, edgeId, inboundIndex, outboundIndex } from '../../model/indexes.ts'
import {
  CANCEL_GRACE_DEFAULT_MS,
  GIVEN_INPUT_MAX,
  RESOLVE_EDGE_WORK,
  RESOLVE_LEVEL_MAX,
  RESOLVE_PAGE_COUNT,
  RESOLVE_RESERVE,
  SHARED_GROUP_MAX,
} from '../../limits.ts'
import { hasLiveLease, requestCancel } from '../cancel-request.ts'
import { readWaitsAhead } from '../find-step.ts'
import { hasCompensations, hasStepsToUndo } from '../../rules/execution-state.ts'
import { enterEnded, unblock, wakeToUnwind } from '../phases.ts'
import type { Edge, EdgeGroup, EdgeState, Execution, ExecutionId, Flow } from '../../model/records.ts'
import type { Tx } from '../../tx.ts'
import { countEffect, edgeEffect, isExcusedGroup, reasonToCancel, verdictOf } from '../../rules/edge-group.ts'
import { flowOf, putFlow, shiftCount } from '../flow-counts.ts'
import {
  BY_FLOW,
  CONDITION_NOT_MET,
  DEPENDENCY_IMPOSSIBLE,
  LOST_TO_SIBLING,
  UPSTREAM_CONDITION_NOT_MET,
  bucketOf,
  isExcused,
  mayGrow,
  movesMembers,
} from '../../rules/flow-state.ts'
import type { MemberBucket } from '../../rules/flow-state.ts'

/** Applies the end of a member to its flow. `before` is the count that the member has left. */
export function resolveMember(tx: Tx, execution: Execution, before: MemberBucket): void {
  const flow = flowOf(tx, execution)
  if (flow === undefined) return
  shiftCount(tx, flow, execution, before)
  followEnds(tx, flow, [execution])
  putFlow(tx, flow)
}

/** Resolves the pending edges of a member, where the operation that ended it had no room for all of them. */
export function resolvePendingEdges(tx: Tx, execution: Execution): void {
  const flow = flowOf(tx, execution)
  const member = execution.member
  if (flow === undefined || member === undefined)
    return tx.fault('an execution without a flow has pending edges', execution.id)
  member.owesEdges = false
  tx.put(execution)
  // Some members of a flow that is being removed are gone already, and none waits.
  if (flow.walk?.purpose === 'remove') return
  followEnds(tx, flow, [execution])
  putFlow(tx, flow)
}

/** Continues the pending cancels of a decided group. */
export function cancelPendingLosers(tx: Tx, execution: Execution): void {
  const flow = flowOf(tx, execution)
  const group = execution.member?.group
  if (flow === undefined || group === undefined)
    return tx.fault('an execution without a flow has pending cancels', execution.id)
  if (flow.walk?.purpose === 'remove') {
    group.owedFrom = undefined
    tx.put(execution)
    return
  }
  const ended: Execution[] = []
  cancelLosers(tx, { flow, ended }, execution)
  followEnds(tx, flow, ended)
  putFlow(tx, flow)
}

/** A flow, and the members that have ended while its edges are resolved. */
export interface Cascade {
  readonly flow: Flow
  readonly ended: Execution[]
}

/** An open edge whose upstream has ended. */
export interface OpenEdge {
  readonly edge: Edge
  readonly upstream: Execution
  readonly downstream: Execution
}

/** Applies ends breadth first, up to a number of levels. The caller puts the flow. */
export function followEnds(tx: Tx, flow: Flow, ends: readonly Execution[]): void {
  let level = ends
  for (let depth = 0; depth < RESOLVE_LEVEL_MAX && level.length > 0; depth++) {
    const next: Execution[] = []
    const cascade: Cascade = { flow, ended: next }
    for (const upstream of level) {
      resolveEdgesOf(tx, cascade, upstream)
      if (flow.cancelsLosers && movesMembers(flow)) cancelUnneededUpstreams(tx, cascade, upstream.id)
    }
    level = next
  }
  for (const upstream of level) markEdgesPending(tx, upstream)
}

function resolveEdgesOf(tx: Tx, cascade: Cascade, upstream: Execution): void {
  const open = tx.range({ index: outboundIndex(upstream.id), to: OPEN_EDGES, limit: RESOLVE_PAGE_COUNT + 1 })
  const ids: string[] = []
  for (const entry of open) ids.push(edgeId(upstream.id, entry.id))
  // No other code changes these edges here. Downstreams can change each other, so they are read one by one.
  const edges = tx.getMany('edge', ids)
  if (edges.length !== open.length) return tx.fault('an edge is missing', upstream.id)
  for (let i = 0; i < edges.length; i++) {
    if (i === RESOLVE_PAGE_COUNT || tx.room() < RESOLVE_EDGE_WORK + RESOLVE_RESERVE) {
      markEdgesPending(tx, upstream)
      return
    }
    const edge = edges[i]
    const downstream = edge === undefined ? undefined : tx.get('execution', edge.downstreamId)
    if (edge === undefined || downstream === undefined)
      return tx.fault('an edge or its downstream does not exist', upstream.id)
    resolveEdge(tx, cascade, { edge, upstream, downstream })
  }
}

/** A member that ended before its group was decided needs its upstreams no more: they may be losers now. */
function cancelUnneededUpstreams(tx: Tx, cascade: Cascade, executionId: ExecutionId): void {
  const execution = tx.get('execution', executionId)
  const group = execution?.member?.group
  if (execution === undefined || group === undefined || group.verdict !== 'pending') return
  if (group.owedFrom !== undefined || !hasOpenEdges(group)) return
  group.owedFrom = ''
  cancelLosers(tx, cascade, execution)
}

/** Reads the member again, because inbound edges may have been counted since. Putting it again takes no room. */
function markEdgesPending(tx: Tx, upstream: Execution): void {
  const current = tx.get('execution', upstream.id)
  if (current?.member === undefined || current.member.owesEdges) return
  current.member.owesEdges = true
  tx.put(current)
}

/** Counts an edge and decides the group of its downstream, if the flow allows members to move. */
export function resolveEdge(tx: Tx, cascade: Cascade, edge: OpenEdge): void {
  const { upstream, downstream } = edge
  countEdge(tx, upstream, edge.edge, downstream)
  if (movesMembers(cascade.flow)) decideGroup(tx, cascade, downstream, upstream.id)
  else tx.put(downstream)
}

/**
 * Resolves an open edge by the outcome of its upstream, and counts it once in the group. The caller puts the
 * downstream.
 */
export function countEdge(tx: Tx, upstream: Execution, edge: Edge, downstream: Execution): void {
  const state = upstream.state
  const member = downstream.member
  const group = member?.group
  if (state.phase !== 'ended' || edge.state !== 'open')
    return tx.fault('an edge is resolved before its upstream has ended, or twice', upstream.id)
  if (member === undefined || group === undefined)
    return tx.fault('the downstream of an edge has no group', downstream.id)
  if (group.completed + group.failed + group.skipped >= group.total) {
    return tx.fault('a group counts more edges than it has', downstream.id)
  }
  const effect = edgeEffect(group.policy, edge.onFailure, state.outcome, isExcused(upstream))
  enterEdgeState(tx, edge, effect === 'met' || effect === 'tolerated' ? 'satisfied' : 'impossible', upstream)
  tx.put(edge)
  countEffect(group, state.outcome, effect)
  // Outcomes are looked up when the member is claimed.
  const mayNote = member.inputCount <= GIVEN_INPUT_MAX && member.takesOutcomes !== true
  if (effect === 'met' && mayNote && edge.hands?.as === 'input') {
    member.given.push({ name: edge.hands.name, upstreamId: upstream.id, result: upstream.result })
  }
  const handsPayload = edge.hands?.as === 'payload' && edge.result !== undefined
  if (handsPayload && group.verdict === 'pending') member.payloadFrom = upstream.id
}

/** Sets the state of an edge, with its time and result. The only writer of edge states. The caller puts the edge. */
export function enterEdgeState(tx: Tx, edge: Edge, state: EdgeState, upstream: Execution): void {
  edge.state = state
  edge.resolvedAt = state === 'open' ? undefined : tx.now
  const end = upstream.state
  const outcome = state === 'satisfied' && end.phase === 'ended' ? end.outcome : undefined
  edge.result = outcome === 'completed' ? upstream.result : undefined
  edge.outcome = outcome === 'completed' ? undefined : outcome
}

/** Decides a pending group and applies the verdict to its member. Puts the member in any case. */
export function decideGroup(tx: Tx, cascade: Cascade, downstream: Execution, cause: ExecutionId): void {
  const flow = cascade.flow
  const group = downstream.member?.group
  if (group === undefined) return tx.fault('a member has no group to decide', downstream.id)
  const verdict = group.verdict === 'pending' ? verdictOf(group, mayGrow(flow)) : 'pending'
  if (verdict === 'pending') {
    tx.put(downstream)
    return
  }
  group.verdict = verdict
  group.decidedAt = tx.now
  applyVerdict(tx, cascade, downstream, cause)
  // Without a group that cancels losers, the decision concerns this member alone.
  if (flow.cancelsLosers && hasOpenEdges(group)) {
    group.owedFrom = ''
    cancelLosers(tx, cascade, downstream)
  }
}

function hasOpenEdges(group: EdgeGroup): boolean {
  return group.completed + group.failed + group.skipped < group.total
}

function applyVerdict(tx: Tx, { flow, ended }: Cascade, downstream: Execution, cause: ExecutionId): void {
  const state = downstream.state
  // A running member reads the verdict when it waits for its children; an ended one needs none.
  if (state.phase !== 'blocked' || state.by !== 'dependencies') {
    tx.put(downstream)
    return
  }
  const before = bucketOf(downstream)
  // A member that is to undo its steps does that before it ends, whatever its group says.
  if (downstream.member?.group?.verdict === 'satisfied' || downstream.unwinding !== undefined) {
    unblock(tx, downstream)
  } else if (skipMember(tx, downstream, cause)) {
    ended.push(downstream)
  }
  shiftCount(tx, flow, downstream, before)
}

/**
 * Skips a member whose group cannot be satisfied, after its compensations have run. `cause` is the upstream that decided
 * it. Returns whether the member has ended. The caller counts it.
 */
export function skipMember(tx: Tx, execution: Execution, cause: ExecutionId): boolean {
  const group = execution.member?.group
  const isByCondition = group !== undefined && isExcusedGroup(group)
  return skip(tx, execution, isByCondition ? UPSTREAM_CONDITION_NOT_MET : DEPENDENCY_IMPOSSIBLE, cause)
}

/** The same for a member whose own condition is not met. The caller counts it and resolves its edges. */
export function skipByCondition(tx: Tx, execution: Execution): boolean {
  return skip(tx, execution, CONDITION_NOT_MET, undefined)
}

function skip(tx: Tx, execution: Execution, reason: string, by: ExecutionId | undefined): boolean {
  if (hasCompensations(execution) && execution.unwinding === undefined) {
    wakeToUnwind(tx, execution, { outcome: 'skipped', reason, by }, 'skipped')
    return false
  }
  enterEnded(tx, execution, {
    outcome: 'skipped',
    how: 'skipped',
    reason,
    by,
    failure: undefined,
    attemptOutcome: 'cancelled',
  })
  return true
}

/**
 * Cancels upstreams that are no longer needed, as far as there is room. Puts the member with the position to resume
 * from.
 */
function cancelLosers(tx: Tx, cascade: Cascade, downstream: Execution): void {
  const group = downstream.member?.group
  const from = group?.owedFrom
  if (group === undefined || from === undefined) return tx.fault('a group has no pending cancels', downstream.id)
  const open = tx.range({
    index: inboundIndex(downstream.id),
    from: from === '' ? undefined : { score: OPEN_EDGES, id: from },
    to: OPEN_EDGES,
    limit: RESOLVE_PAGE_COUNT + 1,
  })
  const ids = open.map(({ id }) => id)
  let isDone = open.length <= RESOLVE_PAGE_COUNT
  for (let i = 0; i < open.length && i < RESOLVE_PAGE_COUNT; i++) {
    if (tx.room() < RESOLVE_EDGE_WORK + RESOLVE_RESERVE) {
      isDone = false
      break
    }
    readWaitsAhead(tx, ids, i)
    const siblingId = open[i]?.id ?? ''
    cancelLoser(tx, cascade, siblingId, downstream)
    group.owedFrom = siblingId
  }
  if (isDone) group.owedFrom = undefined
  tx.put(downstream)
}

/** Cancels a loser at once, unless it has steps to undo: then its holder is asked, or its handler runs once more. */
function cancelLoser(tx: Tx, { flow, ended }: Cascade, siblingId: string, downstream: Execution): void {
  const sibling = tx.get('execution', siblingId)
  if (sibling === undefined) return tx.fault('the upstream of an edge does not exist', downstream.id)
  if (sibling.state.phase === 'ended' || sibling.unwinding !== undefined) return
  const reason = reasonForLoser(tx, sibling, downstream)
  if (reason === undefined) return
  if (hasStepsToUndo(sibling) && hasLiveLease(tx, sibling)) {
    requestCancel(tx, sibling, { reason, by: BY_FLOW, graceMs: CANCEL_GRACE_DEFAULT_MS })
    return
  }
  const before = bucketOf(sibling)
  if (hasStepsToUndo(sibling)) {
    wakeToUnwind(tx, sibling, { outcome: 'cancelled', reason, by: BY_FLOW }, 'cancelled')
    shiftCount(tx, flow, sibling, before)
    return
  }
  enterEnded(tx, sibling, {
    outcome: 'cancelled',
    how: 'cancelled',
    reason,
    by: BY_FLOW,
    failure: undefined,
    attemptOutcome: 'cancelled',
  })
  shiftCount(tx, flow, sibling, before)
  ended.push(sibling)
}

/** Returns why a member that has not ended is no longer needed; undefined while a group that it feeds is undecided. */
function reasonForLoser(tx: Tx, sibling: Execution, decided: Execution): string | undefined {
  const open = tx.range({ index: outboundIndex(sibling.id), to: OPEN_EDGES, limit: SHARED_GROUP_MAX + 1 })
  if (open.length > SHARED_GROUP_MAX) return undefined
  let reason: string | undefined = undefined
  for (const entry of open) {
    const fed = entry.id === decided.id ? decided : tx.get('execution', entry.id)
    const group = fed?.member?.group
    if (fed === undefined || group === undefined) return tx.fault('the downstream of an edge has no group', sibling.id)
    // A member that waits for the end of all its upstreams needs none of them to complete.
    if (group.policy === 'ended') continue
    if (group.verdict === 'pending' && fed.state.phase !== 'ended') return undefined
    // Losing to a satisfied group takes precedence: it is not a failure.
    if (reason !== LOST_TO_SIBLING) reason = reasonToCancel(group) ?? reason
  }
  return reason
}
