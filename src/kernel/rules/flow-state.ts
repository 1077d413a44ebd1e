/** Values derived from a flow's record: its public state, its live members, its pending work. */
import type { Execution, Flow, FlowOutcome, FlowWalk, Instant, MemberCounts, Outcome } from '../model/records.ts'
import { publicState } from '../model/public-state.ts'

export const publicFlowStates = ['open', 'running', 'blocked', 'completed', 'failed', 'cancelled'] as const

export type PublicFlowState = (typeof publicFlowStates)[number]

export type MemberBucket = keyof MemberCounts

/** The reason of upstreams that a satisfied group no longer needs. They count as superseded, not as failed. */
export const LOST_TO_SIBLING = 'sibling_quorum_satisfied'

/** The reason of upstreams that a group no longer needs because it cannot be satisfied. */
export const LOST_TO_FAILURE = 'sibling_quorum_impossible'

/** The reason of upstreams that a group no longer needs because conditions have skipped the others. They count as superseded. */
export const LOST_TO_CONDITION = 'sibling_quorum_skipped'

/** The reason of members whose group cannot be satisfied any more. `by` names the upstream that decided it. */
export const DEPENDENCY_IMPOSSIBLE = 'dependency_impossible'

/** The reason of members whose own condition was not met. */
export const CONDITION_NOT_MET = 'condition'

/** The reason of members whose group cannot be satisfied because of the conditions of upstreams alone. */
export const UPSTREAM_CONDITION_NOT_MET = 'upstream_condition'

/** The `by` of members that end because of their flow. */
export const BY_FLOW = 'flow'

export function noMembers(): MemberCounts {
  return {
    waiting: 0,
    delayed: 0,
    rate_limited: 0,
    waiting_dependencies: 0,
    active: 0,
    suspended: 0,
    completed: 0,
    failed: 0,
    cancelled: 0,
    expired: 0,
    skipped: 0,
    superseded: 0,
  }
}

/** Returns the count of its flow that a member is part of. */
export function bucketOf(execution: Execution): MemberBucket {
  const state = execution.state
  if (state.phase === 'ended' && state.outcome === 'cancelled') {
    return state.by === BY_FLOW && isSupersededBy(state.reason) ? 'superseded' : 'cancelled'
  }
  return publicState(state)
}

function isSupersededBy(reason: string | undefined): boolean {
  return reason === LOST_TO_SIBLING || reason === LOST_TO_CONDITION
}

/** Whether a member was skipped because of a condition: its own, or those of its upstreams alone. */
export function isExcused({ state }: Execution): boolean {
  if (state.phase !== 'ended' || state.outcome !== 'skipped') return false
  return state.reason === CONDITION_NOT_MET || state.reason === UPSTREAM_CONDITION_NOT_MET
}

/** The standing of a member in its flow: its count, or `excused` if it counts as skipped and is no failure of a sink. */
export type Standing = MemberBucket | 'excused'

export function standingOf(execution: Execution): Standing {
  return isExcused(execution) ? 'excused' : bucketOf(execution)
}

export function bucketIn(standing: Standing): MemberBucket {
  return standing === 'excused' ? 'skipped' : standing
}

/** Whether a member ended in a way that makes a flow fail, unless an edge ignores it. */
export function isFailure(standing: Standing): boolean {
  return standing === 'failed' || standing === 'expired' || standing === 'cancelled'
}

/** Members that have not ended. */
export function liveCount(counts: MemberCounts): number {
  return (
    counts.waiting +
    counts.delayed +
    counts.rate_limited +
    counts.waiting_dependencies +
    counts.active +
    counts.suspended
  )
}

/** Whether nothing in the flow will change without another call. */
export function isFlowFinished(flow: Flow): boolean {
  const phase = flow.state.phase
  if (phase === 'ended') return true
  return phase === 'cancelled' && flow.walk?.purpose !== 'cancel' && liveCount(flow.counts) === 0
}

/** Whether a flow has finished and its members are being removed, so that its follow-up can begin. */
export function isGivingWay(flow: Flow): boolean {
  return flow.followUp !== undefined && flow.walk?.purpose === 'remove'
}

/** Since when the flow has pending work, or when its submission is abandoned. */
export function flowDueAt(flow: Flow): Instant | undefined {
  // Without a follow-up, a removal continues by the end of its retention.
  if (flow.walk !== undefined && (flow.walk.purpose !== 'remove' || isGivingWay(flow))) return flow.changedAt
  if (flow.begins !== undefined) return flow.changedAt
  return flow.state.phase === 'held' ? flow.state.until : undefined
}

/** Returns the outcome of a flow whose members have all ended. */
export function flowOutcome(flow: Flow): FlowOutcome {
  if (flow.outcomeRule === 'sinks') return flow.failedSinkCount > 0 ? 'failed' : 'completed'
  const counts = flow.counts
  return counts.failed + counts.expired + counts.cancelled > (flow.ignoredCount ?? 0) ? 'failed' : 'completed'
}

export function publicFlowState(flow: Flow): PublicFlowState {
  const state = flow.state
  if (state.phase === 'cancelled') return 'cancelled'
  if (state.phase === 'ended') return state.outcome
  const counts = flow.counts
  const live = liveCount(counts)
  if (flow.memberCount === 0) return 'open'
  if (live === 0) return flowOutcome(flow)
  if (counts.active > 0) return 'running'
  if (counts.waiting > 0) return live < flow.memberCount ? 'running' : 'open'
  return 'blocked'
}

/** Whether verdicts take effect on members: not during a hold, nor after a cancel that includes the members. */
export function movesMembers(flow: Flow): boolean {
  const state = flow.state
  if (state.phase === 'held') return false
  return state.phase !== 'cancelled' || state.policy === 'flow_only'
}

/** Returns a walk at its start. */
export function newWalk(purpose: FlowWalk['purpose']): FlowWalk {
  return { purpose, fromRank: undefined, fromId: undefined, rootId: undefined }
}

/** Whether callers may still add edges. */
export function mayGrow(flow: Flow): boolean {
  return flow.state.phase === 'open' || flow.state.phase === 'held'
}

/** Whether the cancel of a flow includes its members, so that none may start or be queued again. */
export function stopsMembers(flow: Flow): boolean {
  return flow.state.phase === 'cancelled' && flow.state.policy !== 'flow_only'
}

/** Returns how the end of an upstream counts in the groups it feeds. */
export function groupBucket(outcome: Outcome): 'completed' | 'failed' | 'skipped' {
  if (outcome === 'completed' || outcome === 'skipped') return outcome
  return 'failed'
}
