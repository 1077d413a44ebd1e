/** Pure decisions about schedules: when one is due, and which of its boundaries were missed. */
import { SCHEDULE_MISSED_AFTER_MS, SCHEDULE_PLAN_LOW } from '../limits.ts'
import type { Instant } from '../model/base-records.ts'
import { isFlowId } from '../model/names.ts'
import type { PlannedFiring, Schedule } from '../model/schedule-schema.ts'

/** Returns when time alone changes a schedule next: a boundary, the end of a firing that others wait for, or a lack of boundaries. */
export function scheduleDueAt(schedule: Schedule): Instant | undefined {
  if (schedule.pause !== undefined) return undefined
  const next = schedule.isStalled ? undefined : schedule.planned[0]?.fireAt
  return earliest(earliest(next, schedule.planAt), schedule.wakeAt)
}

function earliest(a: Instant | undefined, b: Instant | undefined): Instant | undefined {
  if (a === undefined) return b
  return b === undefined ? a : Math.min(a, b)
}

/** Whether too few boundaries are stored ahead. */
export function lacksBoundaries({ planned, isComplete, isStalled }: Schedule): boolean {
  return !isComplete && (isStalled || planned.length <= SCHEDULE_PLAN_LOW)
}

/** Whether a boundary is so late that the policy for missed ones decides about it. */
export function isMissed({ fireAt }: PlannedFiring, now: Instant): boolean {
  return fireAt + SCHEDULE_MISSED_AFTER_MS < now
}

/** What to do with the first boundary that is due. */
export type Verdict = 'fire' | 'skip' | 'stall'

/**
 * Decides about the first planned boundary of a schedule. A missed one that may be the last one of many stalls until boundaries
 * up to now are known, so that the decision does not depend on how many were stored.
 */
export function verdictOf(schedule: Schedule, first: PlannedFiring, now: Instant): Verdict {
  if (!isMissed(first, now)) return 'fire'
  if (schedule.missed === 'skip') return 'skip'
  const second = schedule.planned[1]
  if (schedule.missed === 'last' && second !== undefined && second.fireAt <= now) return 'skip'
  return knowsPresent(schedule, now) ? 'fire' : 'stall'
}

/** Whether the stored boundaries reach beyond now, or were planned a short time ago. */
function knowsPresent({ planned, isComplete, plannedAt }: Schedule, now: Instant): boolean {
  const last = planned[planned.length - 1]
  if (isComplete || (last !== undefined && last.fireAt > now)) return true
  return plannedAt <= now && plannedAt + SCHEDULE_MISSED_AFTER_MS >= now
}

/** Whether the ids of a firing are those of what the schedule starts: an execution, or a flow with its members. */
export function fitsStart(
  { flow }: Pick<Schedule, 'flow'>,
  { executionId, memberIds }: { readonly executionId: string; readonly memberIds?: readonly string[] | undefined },
): boolean {
  return isFlowId(executionId) === (flow !== undefined) && memberIds?.length === flow?.nodes.length
}

/** Orders boundaries by the time of their firing; jitter may change their order. */
export function inFiringOrder(planned: readonly PlannedFiring[]): PlannedFiring[] {
  return [...planned].sort((a, b) => (a.fireAt === b.fireAt ? a.at - b.at : a.fireAt - b.fireAt))
}
