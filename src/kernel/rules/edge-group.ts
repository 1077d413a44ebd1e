/** Decides groups of edges: one rule for every policy, from the group alone. */
import type { EdgeGroup, Execution, GroupPolicy, GroupVerdict, Losers } from '../model/records.ts'
import { LOST_TO_FAILURE, LOST_TO_SIBLING } from './flow-state.ts'

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
    losers: input.policy === 'all_of' ? 'let_run' : (input.losers ?? 'cancel'),
    total: 0,
    completed: 0,
    failed: 0,
    skipped: 0,
    verdict: 'pending',
    decidedAt: undefined,
    owedFrom: undefined,
  }
}

function neededBy(input: PolicyInput): number {
  switch (input.policy) {
    case 'all_of':
      return 0
    case 'any_of':
      return 1
    case 'quorum':
      return input.need ?? 0
  }
}

export function hasPolicy(group: EdgeGroup, input: PolicyInput): boolean {
  const wanted = newGroup(input)
  return group.policy === wanted.policy && group.need === wanted.need && group.losers === wanted.losers
}

/** Whether a group needs more upstreams than it has. */
export function needsMore(group: EdgeGroup | undefined): boolean {
  return group !== undefined && group.policy !== 'all_of' && group.need > group.total
}

/** Whether a member that has not ended waits for more upstreams than it has. */
export function isShort(execution: Execution): boolean {
  return execution.state.phase !== 'ended' && needsMore(execution.member?.group)
}

/** Returns the verdict of a group. A group that may still grow is not impossible because it has too few upstreams. */
export function verdictOf(group: EdgeGroup, mayGrow: boolean): GroupVerdict {
  const lost = group.failed + group.skipped
  if (group.policy === 'all_of') {
    if (lost > 0) return 'impossible'
    return group.total > 0 && group.completed === group.total ? 'satisfied' : 'pending'
  }
  if (group.completed >= group.need) return 'satisfied'
  if (mayGrow && group.total < group.need) return 'pending'
  return lost > group.total - group.need ? 'impossible' : 'pending'
}

/** Returns why the remaining upstreams are cancelled; undefined if the group lets them run. */
export function reasonToCancel(group: EdgeGroup): string | undefined {
  if (group.policy === 'all_of' || group.losers === 'let_run') return undefined
  switch (group.verdict) {
    case 'pending':
      return undefined
    case 'satisfied':
      return LOST_TO_SIBLING
    case 'impossible':
      return LOST_TO_FAILURE
  }
}
