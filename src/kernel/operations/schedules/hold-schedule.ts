/** Pauses a schedule, or resumes it. */
import { askForBoundaries } from '../../lifecycle/schedules/run-schedule.ts'
import { emitScheduleChanged } from '../../lifecycle/schedules/schedule-events.ts'
import type { Instant, Schedule } from '../../model/records.ts'
import { refused } from '../../results.ts'
import type { Refused } from '../../results.ts'
import type { Tx } from '../../tx.ts'
import { forgetPlan } from './configure-schedule.ts'

export interface HoldScheduleInput {
  readonly scheduleId: string
  readonly state: 'paused' | 'active'
  readonly by: string
  readonly reason?: string | undefined
}

export type HoldScheduleResult =
  | {
      /** `already_satisfied`: it was in that state. */
      readonly kind: 'schedule_held' | 'schedule_resumed' | 'already_satisfied'
      readonly schedule: Schedule
      readonly at: Instant
    }
  | Refused<'schedule_not_found'>

/** Boundaries of a pause do not fire: after a resume the schedule plans from then on. */
export function holdSchedule(tx: Tx, { scheduleId, state, by, reason }: HoldScheduleInput): HoldScheduleResult {
  const schedule = tx.get('schedule', scheduleId)
  if (schedule === undefined) return refused('schedule_not_found', {})
  const isPaused = schedule.pause !== undefined
  if (isPaused === (state === 'paused')) return { kind: 'already_satisfied', schedule, at: tx.now }

  schedule.changedAt = tx.now
  if (state === 'paused') schedule.pause = { at: tx.now, by, reason }
  else {
    schedule.pause = undefined
    dropPassed(tx, schedule)
    if (schedule.waiting.length > 0) schedule.wakeAt = tx.now
  }
  tx.put(schedule)
  emitScheduleChanged(tx, schedule, { effect: state === 'paused' ? 'paused' : 'resumed', by, reason })
  return { kind: state === 'paused' ? 'schedule_held' : 'schedule_resumed', schedule, at: tx.now }
}

/** Keeps the plan if it reaches beyond now, so that a short pause costs nothing. */
function dropPassed(tx: Tx, schedule: Schedule): void {
  const ahead = schedule.planned.filter(({ at }) => at > tx.now)
  if (ahead.length === 0 && !schedule.isComplete) {
    forgetPlan(tx, schedule, 'paused')
    return
  }
  schedule.planned = ahead
  schedule.isStalled = false
  askForBoundaries(tx, schedule)
}
