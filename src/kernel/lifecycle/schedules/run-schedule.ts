/**
 * Fires a schedule: decides about one boundary, creates its execution and moves on, in one operation. So a boundary fires once,
 * however many engines find it due, and a crash leaves the schedule before it or after it.
 */
import { SCHEDULE_OPEN_MAX, SCHEDULE_PLAN_RETRY_MS, SCHEDULE_QUEUE_MAX } from '../../limits.ts'
import type { FiringCause, Schedule } from '../../model/records.ts'
import type { PlannedFiring, SkipReason } from '../../model/schedule-schema.ts'
import { lacksBoundaries, scheduleDueAt, verdictOf } from '../../rules/schedule-state.ts'
import type { Tx } from '../../tx.ts'
import { createFiring } from './create-firing.ts'
import { createFlow } from './create-flow-firing.ts'
import { awaitEnds, cancelOpen, readOpen } from './overlap.ts'
import type { Fired } from './overlap.ts'
import { emitSkipped } from './schedule-events.ts'

/** Handles what is due of a schedule: one boundary, one firing that waited, or the lack of boundaries. */
export function runSchedule(tx: Tx, schedule: Schedule): void {
  const first = schedule.planned[0]
  if (schedule.wakeAt !== undefined && schedule.wakeAt <= tx.now) fireWaiting(tx, schedule)
  else if (!schedule.isStalled && first !== undefined && first.fireAt <= tx.now) decide(tx, schedule, first)
  askForBoundaries(tx, schedule)
  tx.put(schedule)
}

/** Handles the boundaries that are due, as far as there is room, before the definition changes. */
export function runDueBoundaries(tx: Tx, schedule: Schedule, most: number): void {
  for (let count = 0; count < most; count++) {
    const due = scheduleDueAt(schedule)
    const first = schedule.planned[0]
    if (due === undefined || schedule.isStalled || first === undefined || first.fireAt > tx.now) return
    decide(tx, schedule, first)
  }
}

/** Sets or clears the time at which the schedule asks for boundaries, and moves a time that has passed. */
export function askForBoundaries(tx: Tx, schedule: Schedule): void {
  if (!lacksBoundaries(schedule)) schedule.planAt = undefined
  else if (schedule.planAt === undefined || schedule.planAt <= tx.now) {
    schedule.planAt = tx.now + SCHEDULE_PLAN_RETRY_MS
  }
}

function decide(tx: Tx, schedule: Schedule, first: PlannedFiring): void {
  switch (verdictOf(schedule, first, tx.now)) {
    case 'stall':
      schedule.isStalled = true
      return
    case 'skip':
      schedule.planned = schedule.planned.slice(1)
      skip(tx, schedule, first, 'missed')
      return
    case 'fire':
      schedule.planned = schedule.planned.slice(1)
      fireUnlessOverlapping(tx, schedule, first)
  }
}

/** Notes that a boundary does not fire. */
export function skip(tx: Tx, schedule: Schedule, { at }: PlannedFiring, reason: SkipReason): void {
  schedule.skipped = { at, skippedAt: tx.now, reason }
  emitSkipped(tx, schedule, at, reason)
}

function fireUnlessOverlapping(tx: Tx, schedule: Schedule, firing: PlannedFiring): void {
  const open = readOpen(tx, schedule)
  const isFree = open.length === 0 && schedule.waiting.length === 0
  const overlap = isFree ? 'allow' : schedule.overlap
  switch (overlap) {
    case 'allow':
      fire(tx, schedule, firing, 'boundary')
      return
    case 'skip':
      skip(tx, schedule, firing, 'overlap')
      return
    case 'queue':
      if (schedule.waiting.length >= SCHEDULE_QUEUE_MAX) {
        skip(tx, schedule, firing, 'queue_full')
        return
      }
      schedule.waiting = [...schedule.waiting, firing]
      awaitEnds(tx, schedule, open)
      return
    case 'cancel_previous':
      for (const displaced of schedule.waiting) skip(tx, schedule, displaced, 'overlap')
      schedule.waiting = [firing]
      fireWaiting(tx, schedule)
  }
}

/** Fires the boundary that has waited longest, unless an earlier firing has not ended. */
function fireWaiting(tx: Tx, schedule: Schedule): void {
  schedule.wakeAt = undefined
  const next = schedule.waiting[0]
  if (next === undefined) return
  const open = earlierOpen(tx, schedule)
  if (open === undefined) schedule.wakeAt = tx.now
  else if (open.length > 0) awaitEnds(tx, schedule, open)
  else {
    schedule.waiting = schedule.waiting.slice(1)
    fire(tx, schedule, next, 'boundary')
    if (schedule.waiting.length > 0) schedule.wakeAt = tx.now
  }
}

/** Returns the firings that stand in the way, cancelled if the schedule cancels them; undefined if there was no room for that. */
function earlierOpen(tx: Tx, schedule: Schedule): Fired[] | undefined {
  const open = readOpen(tx, schedule)
  if (schedule.overlap === 'allow') return []
  if (schedule.overlap !== 'cancel_previous' || open.length === 0) return open
  const cancelled = cancelOpen(tx, schedule, open)
  return cancelled === 'short_of_room' ? undefined : readOpen(tx, schedule)
}

/** Creates the execution or the flow of a boundary, or of a call by hand. */
export function fire(tx: Tx, schedule: Schedule, planned: PlannedFiring, cause: FiringCause): void {
  const { at, executionId } = planned
  const firing = { ...planned, cause }
  const { flow } = schedule
  const result = flow === undefined ? createFiring(tx, schedule, firing) : createFlow(tx, schedule, flow, firing)
  if (result === 'exists') return
  if (result !== 'created') {
    schedule.skipped = { at, skippedAt: tx.now, reason: result }
    emitSkipped(tx, schedule, at, result)
    return
  }
  schedule.firedCount = schedule.firedCount + 1
  // Backfills are for the past: they are neither the latest firing nor in the way of the next.
  if (cause === 'backfill') return
  schedule.fired = { at, firedAt: tx.now, executionId }
  schedule.open = [...schedule.open, executionId].slice(-SCHEDULE_OPEN_MAX)
}
