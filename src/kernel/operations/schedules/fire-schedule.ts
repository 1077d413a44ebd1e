/** Fires a schedule by hand: once now, or for past boundaries. */
import { SCHEDULE_FIRE_MAX } from '../../limits.ts'
import { fire } from '../../lifecycle/schedules/run-schedule.ts'
import type { ExecutionId, FiredId, Instant, Schedule } from '../../model/records.ts'
import { refuseHeldNodes } from '../../lifecycle/lanes.ts'
import { refuseQueues } from '../../lifecycle/queues.ts'
import type { HoldRefusal } from '../../lifecycle/lanes.ts'
import { fitsStart } from '../../rules/schedule-state.ts'
import { refused } from '../../results.ts'
import type { Refused } from '../../results.ts'
import type { Tx } from '../../tx.ts'

export interface FireScheduleInput {
  readonly scheduleId: string
  readonly cause: 'trigger' | 'backfill'
  /** At most `SCHEDULE_FIRE_MAX`. Without a time it is now. */
  readonly firings: readonly FiringInput[]
  /** That of the schedule from which the ids of members were computed. A schedule of flows needs it. */
  readonly timingDigest?: string | undefined
}

export interface FiringInput {
  readonly executionId: FiredId
  readonly at?: Instant | undefined
  /** The ids of the members, if it starts a flow. */
  readonly memberIds?: readonly ExecutionId[] | undefined
}

export type FireScheduleResult =
  | {
      readonly kind: 'schedule_fired'
      /** Those that this call has created. A boundary that had fired is left out. */
      readonly created: FiredId[]
      readonly at: Instant
    }
  | {
      /** The call does not name the members of the flow that it starts, or names some and it starts a task. The caller repeats it. */
      readonly kind: 'schedule_differs'
      readonly schedule: Schedule
    }
  | HoldRefusal
  | Refused<'schedule_not_found' | 'too_many_needs'>

/** Fires also while the schedule is paused, and without regard to earlier firings. Idempotent per execution id. */
export function fireSchedule(tx: Tx, input: FireScheduleInput): FireScheduleResult {
  const { scheduleId, cause, timingDigest } = input
  const schedule = tx.get('schedule', scheduleId)
  if (schedule === undefined) return refused('schedule_not_found', {})
  const { flow, work } = schedule
  const type = flow === undefined ? 'execution' : 'flow'
  const firings = input.firings.slice(0, SCHEDULE_FIRE_MAX)
  const isCurrent = timingDigest === (flow === undefined ? undefined : schedule.timingDigest)
  if (!isCurrent || !firings.every((firing) => fitsStart(schedule, firing)))
    return { kind: 'schedule_differs', schedule }
  const isNew = firings.some(({ executionId }) => !tx.has(type, executionId))
  const creates = flow === undefined ? [work] : flow.nodes
  const nodes = creates.map((create) => ({ create }))
  const refusal = isNew ? (refuseHeldNodes(tx, nodes) ?? refuseQueues(tx, creates)) : undefined
  if (refusal !== undefined) return refusal

  const created: FiredId[] = []
  for (const { executionId, at = tx.now, memberIds } of firings) {
    if (tx.has(type, executionId)) continue
    fire(tx, schedule, { at, fireAt: at, executionId, memberIds }, cause)
    created.push(executionId)
  }
  if (created.length > 0) tx.put(schedule)
  return { kind: 'schedule_fired', created, at: tx.now }
}
