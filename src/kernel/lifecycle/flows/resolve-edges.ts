/**
 * What the end of a member means for its flow, in the same operation: its edges are resolved, groups are judged, members
 * are released, skipped or cancelled for having lost, counts are kept exact, and a sealed flow ends with its last member.
 * What exceeds the work of one operation is marked on the record that owes it; the due pass goes on there.
 */
import { OPEN_EDGES, edgeId, inboundIndex, outboundIndex } from '../../model/indexes.ts'
import {
  GIVEN_INPUT_MAX,
  RESOLVE_EDGE_WORK,
  RESOLVE_LEVEL_MAX,
  RESOLVE_PAGE_COUNT,
  RESOLVE_RESERVE,
  SHARED_GROUP_MAX,
} from '../../limits.ts'
import { enterEnded, unblock } from '../phases.ts'
import type { Edge, EdgeGroup, EdgeState, Execution, ExecutionId, Flow } from '../../model/records.ts'
import type { Tx } from '../../tx.ts'
import { reasonToCancel, verdictOf } from '../../rules/edge-group.ts'
import { flowOf, putFlow, shiftCount } from '../flow-counts.ts'
import { BY_FLOW, LOST_TO_SIBLING, bucketOf, groupBucket, mayGrow, movesMembers } from '../../rules/flow-state.ts'
import type { MemberBucket } from '../../rules/flow-state.ts'

/** The reason of members whose group can no longer be satisfied; `by` then names the upstream that decided it. */
export const DEPENDENCY_IMPOSSIBLE = 'dependency_impossible'

/** A member has ended; `before` is the count it has left. */
export function settleMember(tx: Tx, execution: Execution, before: MemberBucket): void {
  const flow = flowOf(tx, execution)
  if (flow === undefined) return
  shiftCount(tx, flow, execution, before)
  followEnds(tx, flow, [execution])
  putFlow(tx, flow)
}

/** Goes on where an operation that ended a member had no room left. */
export function dispatchEdges(tx: Tx, execution: Execution): void {
  const flow = flowOf(tx, execution)
  const member = execution.member
  if (flow === undefined || member === undefined)
    return tx.fault('an execution without a flow owes edges', execution.id)
  member.owesEdges = false
  tx.put(execution)
  // Of a flow that is being removed some are gone already, and nobody waits for anything.
  if (flow.walk?.purpose === 'remove') return
  followEnds(tx, flow, [execution])
  putFlow(tx, flow)
}

/** Goes on with the cancels that a decided group owes. */
export function dispatchSiblingCancels(tx: Tx, execution: Execution): void {
  const flow = flowOf(tx, execution)
  const group = execution.member?.group
  if (flow === undefined || group === undefined)
    return tx.fault('an execution without a flow owes cancels', execution.id)
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

/** Follows the consequences of ends breadth first. The caller writes the flow. */
export function followEnds(tx: Tx, flow: Flow, ends: readonly Execution[]): void {
  let level = ends
  for (let depth = 0; depth < RESOLVE_LEVEL_MAX && level.length > 0; depth++) {
    const next: Execution[] = []
    const cascade: Cascade = { flow, ended: next }
    for (const upstream of level) {
      resolveEdgesOf(tx, cascade, upstream)
      if (flow.cancelsLosers && movesMembers(flow)) freeUpstreams(tx, cascade, upstream.id)
    }
    level = next
  }
  for (const upstream of level) oweEdges(tx, upstream)
}

function resolveEdgesOf(tx: Tx, cascade: Cascade, upstream: Execution): void {
  const open = tx.range({ index: outboundIndex(upstream.id), to: OPEN_EDGES, limit: RESOLVE_PAGE_COUNT + 1 })
  const ids: string[] = []
  for (const entry of open) ids.push(edgeId(upstream.id, entry.id))
  // Nothing but this changes them, while their downstreams may change each other and are read one by one.
  const edges = tx.getMany('edge', ids)
  if (edges.length !== open.length) return tx.fault('an edge is missing', upstream.id)
  for (let i = 0; i < edges.length; i++) {
    if (i === RESOLVE_PAGE_COUNT || tx.room() < RESOLVE_EDGE_WORK + RESOLVE_RESERVE) {
      oweEdges(tx, upstream)
      return
    }
    const edge = edges[i]
    const downstream = edge === undefined ? undefined : tx.get('execution', edge.downstreamId)
    if (edge === undefined || downstream === undefined) return tx.fault('an edge leads nowhere', upstream.id)
    resolveEdge(tx, cascade, { edge, upstream, downstream })
  }
}

/** A member that has ended before its group was decided needs nobody any more: whoever fed it may now have lost elsewhere. */
function freeUpstreams(tx: Tx, cascade: Cascade, executionId: ExecutionId): void {
  const execution = tx.get('execution', executionId)
  const group = execution?.member?.group
  if (execution === undefined || group === undefined || group.verdict !== 'pending') return
  if (group.owedFrom !== undefined || !hasOpenEdges(group)) return
  group.owedFrom = ''
  cancelLosers(tx, cascade, execution)
}

/** Read anew, since edges that lead to it may have been counted meanwhile. What this operation has put costs nothing more. */
function oweEdges(tx: Tx, upstream: Execution): void {
  const current = tx.get('execution', upstream.id)
  if (current?.member === undefined || current.member.owesEdges) return
  current.member.owesEdges = true
  tx.put(current)
}

/** Each edge is counted once: an edge that is not open was counted before. Says nothing to a member that has no say left. */
export function resolveEdge(tx: Tx, cascade: Cascade, edge: OpenEdge): void {
  const { upstream, downstream } = edge
  countEdge(tx, upstream, edge.edge, downstream)
  if (movesMembers(cascade.flow)) judge(tx, cascade, downstream, upstream.id)
  else tx.put(downstream)
}

/** Writes the edge as its upstream ended, and counts it in the group of its downstream, which the caller puts. */
export function countEdge(tx: Tx, upstream: Execution, edge: Edge, downstream: Execution): void {
  const state = upstream.state
  const member = downstream.member
  const group = member?.group
  if (state.phase !== 'ended' || edge.state !== 'open') return tx.fault('an edge is resolved out of turn', upstream.id)
  if (member === undefined || group === undefined) return tx.fault('an edge leads to no group', downstream.id)
  if (group.completed + group.failed + group.skipped >= group.total) {
    return tx.fault('a group counts more edges than it has', downstream.id)
  }
  const bucket = groupBucket(state.outcome)
  const isSatisfied = bucket === 'completed'
  enterEdgeState(tx, edge, isSatisfied ? 'satisfied' : 'impossible', upstream)
  tx.put(edge)
  group[bucket] = group[bucket] + 1
  if (isSatisfied && edge.hands?.as === 'input' && member.inputCount <= GIVEN_INPUT_MAX) {
    member.given.push({ name: edge.hands.name, upstreamId: upstream.id, result: upstream.result })
  }
  const handsPayload = edge.hands?.as === 'payload' && edge.result !== undefined
  if (handsPayload && group.verdict === 'pending') member.payloadFrom = upstream.id
}

/** Sets the state of an edge, with its time and result. The only writer of edge states. The caller puts the edge. */
export function enterEdgeState(tx: Tx, edge: Edge, state: EdgeState, upstream: Execution): void {
  edge.state = state
  edge.resolvedAt = state === 'open' ? undefined : tx.now
  edge.result = state === 'satisfied' ? upstream.result : undefined
}

/** Decides a group that is not decided yet, and does to its member what the verdict says. Puts the member in any case. */
export function judge(tx: Tx, cascade: Cascade, downstream: Execution, cause: ExecutionId): void {
  const flow = cascade.flow
  const group = downstream.member?.group
  if (group === undefined) return tx.fault('a member without a group is judged', downstream.id)
  const verdict = group.verdict === 'pending' ? verdictOf(group, mayGrow(flow)) : 'pending'
  if (verdict === 'pending') {
    tx.put(downstream)
    return
  }
  group.verdict = verdict
  group.decidedAt = tx.now
  applyVerdict(tx, cascade, downstream, cause)
  // Where no group cancels anybody, nobody waits for this decision but the member itself.
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
  // One that runs is told when it waits for its children; one that has ended is not told at all.
  if (state.phase !== 'blocked' || state.by !== 'dependencies') {
    tx.put(downstream)
    return
  }
  const before = bucketOf(downstream)
  if (downstream.member?.group?.verdict === 'satisfied') {
    unblock(tx, downstream)
  } else {
    enterSkipped(tx, downstream, cause)
    ended.push(downstream)
  }
  shiftCount(tx, flow, downstream, before)
}

export function enterSkipped(tx: Tx, execution: Execution, cause: ExecutionId): void {
  enterEnded(tx, execution, {
    outcome: 'skipped',
    how: 'skipped',
    reason: DEPENDENCY_IMPOSSIBLE,
    by: cause,
    failure: undefined,
    attemptOutcome: 'cancelled',
  })
}

/** Cancels upstreams that nobody needs any more, as far as there is room; puts the member with the place to go on from. */
function cancelLosers(tx: Tx, cascade: Cascade, downstream: Execution): void {
  const group = downstream.member?.group
  const from = group?.owedFrom
  if (group === undefined || from === undefined)
    return tx.fault('a group that owes no cancels is to cancel', downstream.id)
  const open = tx.range({
    index: inboundIndex(downstream.id),
    from: from === '' ? undefined : { score: OPEN_EDGES, id: from },
    to: OPEN_EDGES,
    limit: RESOLVE_PAGE_COUNT + 1,
  })
  let isDone = open.length <= RESOLVE_PAGE_COUNT
  for (let i = 0; i < open.length && i < RESOLVE_PAGE_COUNT; i++) {
    if (tx.room() < RESOLVE_EDGE_WORK + RESOLVE_RESERVE) {
      isDone = false
      break
    }
    const siblingId = open[i]?.id ?? ''
    cancelLoser(tx, cascade, siblingId, downstream)
    group.owedFrom = siblingId
  }
  if (isDone) group.owedFrom = undefined
  tx.put(downstream)
}

function cancelLoser(tx: Tx, { flow, ended }: Cascade, siblingId: string, downstream: Execution): void {
  const sibling = tx.get('execution', siblingId)
  if (sibling === undefined) return tx.fault('an edge leads from a member that is missing', downstream.id)
  if (sibling.state.phase === 'ended') return
  const reason = reasonForLoser(tx, sibling, downstream)
  if (reason === undefined) return
  const before = bucketOf(sibling)
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

/** Why a member that has not ended is no longer needed; undefined as long as a group that it feeds is undecided. */
function reasonForLoser(tx: Tx, sibling: Execution, decided: Execution): string | undefined {
  const open = tx.range({ index: outboundIndex(sibling.id), to: OPEN_EDGES, limit: SHARED_GROUP_MAX + 1 })
  if (open.length > SHARED_GROUP_MAX) return undefined
  let reason: string | undefined = undefined
  for (const entry of open) {
    const fed = entry.id === decided.id ? decided : tx.get('execution', entry.id)
    const group = fed?.member?.group
    if (fed === undefined || group === undefined) return tx.fault('an edge leads to no group', sibling.id)
    if (group.verdict === 'pending' && fed.state.phase !== 'ended') return undefined
    // Having lost to one that is satisfied counts most: nothing has gone wrong then.
    if (reason !== LOST_TO_SIBLING) reason = reasonToCancel(group) ?? reason
  }
  return reason
}
