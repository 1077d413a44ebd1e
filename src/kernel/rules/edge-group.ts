/** Decides groups of edges: one rule for every policy, from the group alone. */
import type {
  EdgeGroup,
  EdgeTolerance,
  Execution,
  GroupPolicy,
  GroupVerdict,
  Losers,
  Outcome,
} from '../model/records.ts'
import { LOST_TO_CONDITION, LOST_TO_FAILURE, LOST_TO_SIBLING, groupBucket } from './flow-state.ts'

export interface PolicyInput {
  readonly policy: GroupPolicy
  /** The number of a quorum. */
  readonly need?: number | undefined
  readonly losers?: Losers | undefined
}

export const ALL_OF: PolicyInput = { policy: 'all_of' }

export function newGroup(input: PolicyInput): EdgeGroup {
  return {
    policy: input.policy,
    need: neededBy(input),
    losers: waitsForAll(input.policy) ? 'let_run' : (input.losers ?? 'cancel'),
    total: 0,
    completed: 0,
    failed: 0,
    skipped: 0,
    verdict: 'pending',
    decidedAt: undefined,
    owedFrom: undefined,
    tolerated: undefined,
    excused: undefined,
  }
}

function neededBy(input: PolicyInput): number {
  switch (input.policy) {
    case 'all_of':
    case 'ended':
      return 0
    case 'any_of':
      return 1
    case 'quorum':
      return input.need ?? 0
  }
}

/** Whether a group needs the end of every upstream, so that none of them can lose, and another edge may be added to it. */
export function waitsForAll(policy: GroupPolicy): boolean {
  return policy === 'all_of' || policy === 'ended'
}

/** Whether every end of the upstream satisfies an edge. The downstream then receives the outcome, not the result alone. */
export function passesOutcome(policy: GroupPolicy, onFailure: EdgeTolerance | undefined): boolean {
  return policy === 'ended' || onFailure !== undefined
}

/** The effect of the end of an upstream on one edge. */
export type EdgeEffect =
  /** The upstream completed. */
  | 'met'
  /** The upstream did not complete, and the edge is satisfied by any end. */
  | 'tolerated'
  | 'lost'
  /** Lost, but because of a condition: a downstream that is skipped by it is no failure either. */
  | 'excused'

export function edgeEffect(
  policy: GroupPolicy,
  onFailure: EdgeTolerance | undefined,
  outcome: Outcome,
  isExcused: boolean,
): EdgeEffect {
  if (outcome === 'completed') return 'met'
  if (passesOutcome(policy, onFailure)) return 'tolerated'
  return outcome === 'skipped' && isExcused ? 'excused' : 'lost'
}

/** Counts the end of an upstream in the group of its downstream. */
export function countEffect(group: EdgeGroup, outcome: Outcome, effect: EdgeEffect): void {
  change(group, outcome, effect, 1)
}

/** Reverts `countEffect`, as the upstream lives again. */
export function uncountEffect(group: EdgeGroup, outcome: Outcome, effect: EdgeEffect): void {
  change(group, outcome, effect, -1)
}

function change(group: EdgeGroup, outcome: Outcome, effect: EdgeEffect, by: 1 | -1): void {
  const bucket = groupBucket(outcome)
  group[bucket] = group[bucket] + by
  if (effect === 'tolerated') group.tolerated = (group.tolerated ?? 0) + by
  if (effect === 'excused') group.excused = (group.excused ?? 0) + by
}

/** Upstreams whose end cannot satisfy their edge. */
function lostBy(group: EdgeGroup): number {
  return group.failed + group.skipped - (group.tolerated ?? 0)
}

/** Whether a group cannot be satisfied because of conditions alone. */
export function isExcusedGroup(group: EdgeGroup): boolean {
  return group.verdict === 'impossible' && (group.excused ?? 0) > 0 && group.excused === lostBy(group)
}

export function hasPolicy(group: EdgeGroup, input: PolicyInput): boolean {
  const wanted = newGroup(input)
  return group.policy === wanted.policy && group.need === wanted.need && group.losers === wanted.losers
}

/** Whether a group needs more upstreams than it has. */
export function needsMore(group: EdgeGroup | undefined): boolean {
  return group !== undefined && !waitsForAll(group.policy) && group.need > group.total
}

/** Whether a member that has not ended waits for more upstreams than it has. */
export function isShort(execution: Execution): boolean {
  return execution.state.phase !== 'ended' && needsMore(execution.member?.group)
}

/** Returns the verdict of a group. A group that may still grow is not impossible because it has too few upstreams. */
export function verdictOf(group: EdgeGroup, mayGrow: boolean): GroupVerdict {
  const lost = lostBy(group)
  const met = group.completed + (group.tolerated ?? 0)
  if (waitsForAll(group.policy)) {
    if (lost > 0) return 'impossible'
    return group.total > 0 && met === group.total ? 'satisfied' : 'pending'
  }
  if (met >= group.need) return 'satisfied'
  if (mayGrow && group.total < group.need) return 'pending'
  return lost > group.total - group.need ? 'impossible' : 'pending'
}

/** Returns why the remaining upstreams are cancelled; undefined if the group lets them run. */
export function reasonToCancel(group: EdgeGroup): string | undefined {
  if (waitsForAll(group.policy) || group.losers === 'let_run') return undefined
  switch (group.verdict) {
    case 'pending':
      return undefined
    case 'satisfied':
      return LOST_TO_SIBLING
    case 'impossible':
      return isExcusedGroup(group) ? LOST_TO_CONDITION : LOST_TO_FAILURE
  }
}
