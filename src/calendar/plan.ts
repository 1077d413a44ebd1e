/** Computes the next boundaries that a schedule stores. The operation that stores them checks that they still follow. */
import { SCHEDULE_MISSED_AFTER_MS, SCHEDULE_MISSED_MAX, SCHEDULE_PLAN_MAX, isMissed } from '../kernel/index.ts'
import type { Instant, PlanScheduleInput, Schedule } from '../kernel/index.ts'
import { boundariesAfter, boundariesUpTo } from './boundaries.ts'
import { firingAt } from './firing.ts'

/** `partition` is the number of the schedule's partition, and `now` the clock of the store. */
export function planOf(schedule: Schedule, partition: number, now: Instant): PlanScheduleInput {
  const { id, timing, timingDigest, plannedUntil, planned } = schedule
  const floor = floorOf(schedule, now)
  const wanted = SCHEDULE_PLAN_MAX - planned.filter(({ at }) => at >= floor).length
  // One more shows whether any follows.
  const found = boundariesAfter(timing, Math.max(plannedUntil, floor - 1), wanted + 1)
  return {
    scheduleId: id,
    timingDigest,
    after: plannedUntil,
    boundaries: found.slice(0, wanted).map((at) => firingAt(schedule, at, partition)),
    floor,
    isComplete: found.length <= wanted,
  }
}

/**
 * Returns the earliest boundary that its policy does not give up. Boundaries before the time that is missed for certain are given up
 * by `skip`, all but the latest by `last`, and all but the latest hundred by `all`.
 */
function floorOf(schedule: Schedule, now: Instant): Instant {
  const { timing, missed, planned, plannedUntil } = schedule
  const missedUntil = now - SCHEDULE_MISSED_AFTER_MS - timing.jitterMs - 1
  // Whatever is not planned yet is still in time. This is the case unless no engine ran.
  if (plannedUntil >= missedUntil) return 0
  if (missed === 'skip') return missedUntil + 1
  const isPast = ({ at }: { readonly at: Instant }) => at <= missedUntil
  // Those after it are kept in any case, and count if their jitter was so short that they are missed, too.
  const kept = missed === 'last' ? 1 : SCHEDULE_MISSED_MAX - missedAfter(schedule, missedUntil, now)
  if (kept <= 0) return missedUntil + 1
  const most = missed === 'last' ? 1 : Math.max(0, kept - planned.filter(isPast).length)
  // Looking ahead is faster than looking back, and mostly enough.
  const ahead = boundariesAfter(timing, plannedUntil, most + 1).filter((at) => at <= missedUntil)
  if (ahead.length <= most) return missed === 'last' ? (ahead[0] ?? 0) : 0
  const latest = boundariesUpTo(timing, missedUntil, kept)
  return latest[latest.length - 1] ?? missedUntil + 1
}

/** Counts the boundaries after an instant that are missed, up to the hundred that can be kept. */
function missedAfter(schedule: Schedule, after: Instant, now: Instant): number {
  const found = boundariesAfter(schedule.timing, after, SCHEDULE_MISSED_MAX)
  // The partition is of no influence on the jitter.
  return found.filter((at) => isMissed(firingAt(schedule, at, 0), now)).length
}
