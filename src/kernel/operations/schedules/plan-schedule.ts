/** Stores the next boundaries of a schedule, which a process with a calendar has computed. */
import { SCHEDULE_PLAN_MAX } from '../../limits.ts'
import { askForBoundaries, skip } from '../../lifecycle/schedules/run-schedule.ts'
import type { Instant, Schedule } from '../../model/records.ts'
import type { PlannedFiring } from '../../model/schedule-schema.ts'
import { fitsStart, inFiringOrder, isMissed, lacksBoundaries } from '../../rules/schedule-state.ts'
import { refused } from '../../results.ts'
import type { Refused } from '../../results.ts'
import type { Tx } from '../../tx.ts'

export interface PlanScheduleInput {
  readonly scheduleId: string
  /** The definition and the boundary after which the plan was computed. Another one makes the plan void. */
  readonly timingDigest: string
  readonly after: Instant
  /** Ascending, and all after `after`. */
  readonly boundaries: readonly PlannedFiring[]
  /** Missed boundaries before it are not made up for. */
  readonly floor: Instant
  /** No boundary follows. */
  readonly isComplete: boolean
}

export type PlanScheduleResult =
  { readonly kind: 'schedule_planned' | 'plan_outdated'; readonly schedule: Schedule } | Refused<'schedule_not_found'>

export function planSchedule(tx: Tx, input: PlanScheduleInput): PlanScheduleResult {
  const schedule = tx.get('schedule', input.scheduleId)
  if (schedule === undefined) return refused('schedule_not_found', {})
  const isCurrent = schedule.timingDigest === input.timingDigest && schedule.plannedUntil === input.after
  const fits = input.boundaries.every((firing) => fitsStart(schedule, firing))
  if (!isCurrent || !fits || !lacksBoundaries(schedule)) return { kind: 'plan_outdated', schedule }

  dropBefore(tx, schedule, input.floor)
  const added = input.boundaries.slice(0, Math.max(0, SCHEDULE_PLAN_MAX - schedule.planned.length))
  const isWhole = added.length === input.boundaries.length
  const last = added[added.length - 1]
  schedule.planned = inFiringOrder([...schedule.planned, ...added])
  if (last !== undefined) schedule.plannedUntil = last.at
  schedule.plannedAt = tx.now
  schedule.isComplete = input.isComplete && isWhole
  schedule.isStalled = false
  schedule.planAt = undefined
  askForBoundaries(tx, schedule)
  tx.put(schedule)
  return { kind: 'schedule_planned', schedule }
}

function dropBefore(tx: Tx, schedule: Schedule, floor: Instant): void {
  const dropped = schedule.planned.filter((firing) => firing.at < floor && isMissed(firing, tx.now))
  const latest = dropped[dropped.length - 1]
  if (latest === undefined) return
  schedule.planned = schedule.planned.filter((firing) => !dropped.includes(firing))
  skip(tx, schedule, latest, 'missed')
}
