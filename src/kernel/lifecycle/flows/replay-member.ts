/** Replays inside a flow: a member becomes what its edges say now, and so does everything that was skipped behind it. */
import { prepareReplay } from '../prepare-replay.ts'
import type { ReplayRequest } from '../prepare-replay.ts'
import { REPLAY_CAP, RESOLVE_RESERVE } from '../../limits.ts'
import type { Edge, EdgeGroup, Execution, ExecutionId, Flow, FlowWalk } from '../../model/records.ts'
import { refused } from '../../results.ts'
import type { Refused } from '../../results.ts'
import type { Tx } from '../../tx.ts'
import { newGroup, verdictOf } from '../../rules/edge-group.ts'
import { shiftCount } from '../flow-counts.ts'
import { reopenFlow } from '../flow-phases.ts'
import { reviveMember } from '../phases.ts'
import { bucketOf, groupBucket, mayGrow } from '../../rules/flow-state.ts'
import { inboundEdges } from './inbound.ts'
import { enterEdgeState } from './resolve-edges.ts'
import { memberOf } from './rank-order.ts'

/** A group as its edges would make it today, and the edges that would have to be written for it. */
export interface Rejudged {
  readonly group: EdgeGroup | undefined
  readonly changed: Edge[]
  readonly payloadFrom: ExecutionId | undefined
  readonly failedUpstream: ExecutionId | undefined
  /** Whether an edge leads from a member that this very replay has replayed. */
  readonly isReached: boolean
}

/** Edges that had failed are looked at again: their upstream may run again, or have completed since. Writes nothing. */
export function rejudge(tx: Tx, flow: Flow, execution: Execution, requestId: string): Rejudged {
  const member = memberOf(tx, execution)
  const old = member.group
  const changed: Edge[] = []
  if (old === undefined || old.total === 0 || old.verdict === 'satisfied') {
    return { group: old, changed, payloadFrom: member.payloadFrom, failedUpstream: undefined, isReached: false }
  }
  const group = newGroup({ policy: old.policy, need: old.need, losers: old.losers })
  group.total = old.total
  let payloadFrom: ExecutionId | undefined = undefined
  let failedUpstream: ExecutionId | undefined = undefined
  let isReached = false
  for (const edge of inboundEdges(tx, execution.id)) {
    if (edge.state === 'impossible') lookAgain(tx, edge, changed)
    if (edge.state === 'satisfied') {
      group.completed = group.completed + 1
      if (edge.hands?.as === 'payload' && edge.result !== undefined) payloadFrom = payloadFrom ?? edge.upstreamId
    }
    const upstream = tx.get('execution', edge.upstreamId)
    if (upstream?.lastReplay?.requestId === requestId) isReached = true
    if (edge.state !== 'impossible') continue
    failedUpstream = failedUpstream ?? edge.upstreamId
    const outcome = upstream?.state.phase === 'ended' ? upstream.state.outcome : 'failed'
    const bucket = groupBucket(outcome)
    group[bucket] = group[bucket] + 1
  }
  group.verdict = verdictOf(group, mayGrow(flow))
  group.decidedAt = group.verdict === 'pending' ? undefined : tx.now
  return { group, changed, payloadFrom, failedUpstream, isReached }
}

function lookAgain(tx: Tx, edge: Edge, changed: Edge[]): void {
  const upstream = tx.get('execution', edge.upstreamId)
  if (upstream === undefined) return tx.fault('an edge leads from a member that is missing', edge.downstreamId)
  const state = upstream.state
  const isCompleted = state.phase === 'ended' && state.outcome === 'completed'
  if (state.phase === 'ended' && !isCompleted) return
  enterEdgeState(tx, edge, isCompleted ? 'satisfied' : 'open', upstream)
  changed.push(edge)
}

export interface MemberReplay {
  readonly rejudged: Rejudged
  readonly request: ReplayRequest
  /** Holds the member back until all that was skipped because of it is replayed too. */
  readonly isSubtree: boolean
}

/** Why a member cannot be replayed as its edges stand, if it cannot. */
export function refuseReplay(
  tx: Tx,
  flow: Flow,
  execution: Execution,
  { rejudged, isSubtree }: Pick<MemberReplay, 'rejudged' | 'isSubtree'>,
): Refused<'flow_ended' | 'flow_busy' | 'upstream_not_replayed' | 'graph_limit_exceeded'> | undefined {
  if (flow.state.phase === 'cancelled' || flow.walk?.purpose === 'remove') {
    return refused('flow_ended', { flowId: flow.id, executionId: execution.id })
  }
  // Two walks at once would lose one another's place; a plain replay disturbs none but another replay.
  if (flow.walk !== undefined && (isSubtree || flow.walk.purpose === 'replay')) {
    return refused('flow_busy', { flowId: flow.id, executionId: execution.id })
  }
  // What it still has to tell of its first end would be lost.
  if (execution.member?.owesEdges === true) return refused('flow_busy', { flowId: flow.id, executionId: execution.id })
  if (rejudged.group?.verdict === 'impossible') {
    const upstream = rejudged.failedUpstream === undefined ? undefined : tx.get('execution', rejudged.failedUpstream)
    const nodes = upstream?.member === undefined ? [] : [upstream.member.name]
    return refused('upstream_not_replayed', { flowId: flow.id, executionId: rejudged.failedUpstream, nodes })
  }
  const limit = tx.room() - EDGES_ASIDE
  return rejudged.changed.length > limit ? refused('graph_limit_exceeded', { limit }) : undefined
}

/** Records that a replay puts besides edges: the member, its attempt, its flow, and a little more. */
const EDGES_ASIDE = 6

/** Makes a member runnable again: at once, or when its edges let it. The caller puts the flow. */
export function replayMember(tx: Tx, flow: Flow, execution: Execution, replay: MemberReplay): void {
  const { rejudged, request, isSubtree } = replay
  const member = memberOf(tx, execution)
  const before = bucketOf(execution)
  for (const edge of rejudged.changed) tx.put(edge)
  member.group = rejudged.group
  member.payloadFrom = rejudged.payloadFrom
  // From now on what is handed on is looked up: results may have changed.
  member.given = []
  flow.hasReplays = true
  member.delay = undefined
  member.owesEdges = false
  prepareReplay(tx, execution, request)
  const mustWait = rejudged.group?.verdict === 'pending' && rejudged.group.total > 0
  const isHeld = isSubtree || flow.state.phase === 'held'
  reviveMember(tx, execution, request, mustWait ? 'dependencies' : isHeld ? 'hold' : undefined)
  if (flow.state.phase === 'ended') reopenFlow(tx, flow)
  shiftCount(tx, flow, execution, before)
}

/**
 * A step of the walk that replays what was skipped: in the order of ranks, so what leads to a member was seen to before.
 * False if the member has more edges to open again than there is room for: those it had room for are open, and the walk
 * comes back to it.
 */
export function replaySkipped(tx: Tx, flow: Flow, execution: Execution, walk: FlowWalk): boolean {
  const state = execution.state
  if (state.phase !== 'ended' || state.outcome !== 'skipped' || execution.replayCount >= REPLAY_CAP) return true
  const root = walk.rootId === undefined ? undefined : tx.get('execution', walk.rootId)
  const request = root?.lastReplay
  if (request === undefined) return tx.fault('a replay is not known where it began', execution.id)
  const rejudged = rejudge(tx, flow, execution, request.requestId)
  // What was skipped for the sake of others is none of this replay's business.
  if (!rejudged.isReached || rejudged.group?.verdict === 'impossible') return true
  const room = tx.room() - RESOLVE_RESERVE
  if (rejudged.changed.length > room) {
    reopenSome(tx, execution, rejudged.changed, room)
    return false
  }
  replayMember(tx, flow, execution, { rejudged, request, isSubtree: false })
  return true
}

/** The member stays skipped, and its group as impossible as it was, until the last of them is open. */
function reopenSome(tx: Tx, execution: Execution, edges: readonly Edge[], count: number): void {
  const group = memberOf(tx, execution).group
  if (group === undefined) return tx.fault('edges lead to a member without a group', execution.id)
  for (let i = 0; i < count; i++) {
    const edge = edges[i]
    if (edge === undefined) break
    tx.put(edge)
    if (group.failed > 0) group.failed = group.failed - 1
    else group.skipped = group.skipped - 1
    if (edge.state === 'satisfied') group.completed = group.completed + 1
  }
  tx.put(execution)
}
