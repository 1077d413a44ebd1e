/** Creates executions of a schedule by hand: one now, or those of past boundaries. */
import { SCHEDULE_FIRE_MAX } from '../../limits.ts'
import { fire } from '../../lifecycle/schedules/run-schedule.ts'
import type { ExecutionId, Instant } from '../../model/records.ts'
import { refuseHeld } from '../../lifecycle/lanes.ts'
import { refuseQueues } from '../../lifecycle/queues.ts'
import type { HoldRefusal } from '../../lifecycle/lanes.ts'
import { refused } from '../../results.ts'
import type { Refused } from '../../results.ts'
import type { Tx } from '../../tx.ts'

export interface FireScheduleInput {
  readonly scheduleId: string
  readonly cause: 'trigger' | 'backfill'
  /** At most `SCHEDULE_FIRE_MAX`. Without a time it is now. */
  readonly firings: readonly { readonly executionId: ExecutionId; readonly at?: Instant | undefined }[]
}

export type FireScheduleResult =
  | {
      readonly kind: 'schedule_fired'
      /** Those that this call has created. A boundary that had fired is left out. */
      readonly created: ExecutionId[]
      readonly at: Instant
    }
  | HoldRefusal
  | Refused<'schedule_not_found' | 'too_many_needs'>

/** Fires also while the schedule is paused, and without regard to earlier firings. Idempotent per execution id. */
export function fireSchedule(tx: Tx, { scheduleId, cause, firings }: FireScheduleInput): FireScheduleResult {
  const schedule = tx.get('schedule', scheduleId)
  if (schedule === undefined) return refused('schedule_not_found', {})
  const isNew = firings.some(({ executionId }) => !tx.has('execution', executionId))
  const refusal = isNew ? (refuseHeld(tx, schedule.work) ?? refuseQueues(tx, [schedule.work])) : undefined
  if (refusal !== undefined) return refusal

  const created: ExecutionId[] = []
  for (const { executionId, at = tx.now } of firings.slice(0, SCHEDULE_FIRE_MAX)) {
    if (tx.has('execution', executionId)) continue
    fire(tx, schedule, { at, fireAt: at, executionId }, cause)
    created.push(executionId)
  }
  if (created.length > 0) tx.put(schedule)
  return { kind: 'schedule_fired', created, at: tx.now }
}
