/** Changes when a schedule fires. What it starts, with its input and its settings, stays as it is. */
import { SCHEDULE_FIRE_MAX } from '../../limits.ts'
import { askForBoundaries, runDueBoundaries } from '../../lifecycle/schedules/run-schedule.ts'
import { emitScheduleChanged } from '../../lifecycle/schedules/schedule-events.ts'
import type { Instant, Schedule } from '../../model/records.ts'
import type { MissedPolicy, Overlap, ScheduleTiming } from '../../model/schedule-schema.ts'
import { refused } from '../../results.ts'
import type { Refused } from '../../results.ts'
import type { Tx } from '../../tx.ts'
import { forgetPlan } from './configure-schedule.ts'

export interface RetimeScheduleInput {
  readonly scheduleId: string
  /** The digest of the definition that the digests of this input were computed from. */
  readonly basis: string
  readonly digest: string
  readonly timingDigest: string
  readonly timing: ScheduleTiming
  readonly overlap: Overlap
  readonly missed: MissedPolicy
  readonly by?: string | undefined
  readonly reason?: string | undefined
}

export type RetimeScheduleResult =
  | {
      /** `schedule_outdated`: it has another definition than the basis, so nothing was changed. */
      readonly kind: 'schedule_changed' | 'schedule_unchanged' | 'schedule_outdated'
      readonly schedule: Schedule
      readonly at: Instant
    }
  | Refused<'schedule_not_found'>

/** Idempotent: equal times change nothing. A boundary that has come fires by the earlier times. */
export function retimeSchedule(tx: Tx, input: RetimeScheduleInput): RetimeScheduleResult {
  const schedule = tx.get('schedule', input.scheduleId)
  if (schedule === undefined) return refused('schedule_not_found', {})
  const { basis, digest, timingDigest, timing, overlap, missed, by, reason } = input
  const isOtherTiming = schedule.timingDigest !== timingDigest
  if (!isOtherTiming && schedule.overlap === overlap && schedule.missed === missed) {
    return { kind: 'schedule_unchanged', schedule, at: tx.now }
  }
  if (schedule.digest !== basis) return { kind: 'schedule_outdated', schedule, at: tx.now }

  if (schedule.pause === undefined) runDueBoundaries(tx, schedule, SCHEDULE_FIRE_MAX)
  Object.assign(schedule, { digest, timingDigest, timing, overlap, missed, changedAt: tx.now })
  if (isOtherTiming) forgetPlan(tx, schedule, 'changed')
  askForBoundaries(tx, schedule)
  tx.put(schedule)
  emitScheduleChanged(tx, schedule, { effect: 'changed', by, reason })
  return { kind: 'schedule_changed', schedule, at: tx.now }
}
