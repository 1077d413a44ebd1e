/** Creates a schedule or changes it. Idempotent: an equal definition changes nothing. */
import { SCHEDULE_FIRE_MAX, SCHEDULE_PLAN_RETRY_MS } from '../../limits.ts'
import { blobInfo } from '../../lifecycle/new-execution.ts'
import { workSettings } from '../../lifecycle/schedules/create-firing.ts'
import type { WorkSettings } from '../../lifecycle/schedules/create-firing.ts'
import { askForBoundaries, runDueBoundaries, skip } from '../../lifecycle/schedules/run-schedule.ts'
import { emitScheduleChanged } from '../../lifecycle/schedules/schedule-events.ts'
import { scheduleInputKey } from '../../model/blob-keys.ts'
import type { Instant, Schedule } from '../../model/records.ts'
import type { MissedPolicy, Overlap, ScheduleTiming } from '../../model/schedule-schema.ts'
import { refused } from '../../results.ts'
import type { Refused } from '../../results.ts'
import type { BlobInput, Tx } from '../../tx.ts'

export interface ConfigureScheduleInput {
  readonly scheduleId: string
  readonly namespace: string
  readonly name: string
  /** Who declares it in code. A schedule of another owner is refused. Absent: the owner stays as it is. */
  readonly owner?: string | undefined
  readonly digest: string
  readonly timingDigest: string
  readonly timing: ScheduleTiming
  readonly work: WorkSettings & { readonly payload?: BlobInput | undefined }
  readonly overlap: Overlap
  readonly missed: MissedPolicy
  readonly by?: string | undefined
}

export type ConfigureScheduleResult =
  | {
      readonly kind: 'schedule_created' | 'schedule_changed' | 'schedule_unchanged'
      readonly schedule: Schedule
      readonly at: Instant
    }
  | Refused<'schedule_owned'>

export function configureSchedule(tx: Tx, input: ConfigureScheduleInput): ConfigureScheduleResult {
  const existing = tx.get('schedule', input.scheduleId)
  if (existing === undefined) return create(tx, input)
  const { owner = existing.owner } = input
  if (existing.owner !== undefined && owner !== existing.owner)
    return refused('schedule_owned', { name: existing.owner })
  if (existing.digest === input.digest && existing.owner === owner) {
    return { kind: 'schedule_unchanged', schedule: existing, at: tx.now }
  }
  return change(tx, existing, { ...input, owner })
}

function create(tx: Tx, input: ConfigureScheduleInput): ConfigureScheduleResult {
  const schedule: Schedule = {
    type: 'schedule',
    id: input.scheduleId,
    namespace: input.namespace,
    name: input.name,
    ...definitionOf(input),
    revision: 1,
    pause: undefined,
    planned: [],
    plannedUntil: tx.now,
    plannedAt: tx.now,
    isComplete: false,
    // The process that creates it plans its boundaries at once. The engine does if that process ends before.
    planAt: tx.now + SCHEDULE_PLAN_RETRY_MS,
    isStalled: false,
    waiting: [],
    wakeAt: undefined,
    open: [],
    fired: undefined,
    firedCount: 0,
    skipped: undefined,
    createdAt: tx.now,
    changedAt: tx.now,
  }
  keepInput(tx, schedule, input)
  tx.put(schedule)
  emitScheduleChanged(tx, schedule, { effect: 'created', by: input.by })
  return { kind: 'schedule_created', schedule, at: tx.now }
}

/**
 * A boundary that has come fires by the earlier definition, with any jitter still to wait. Boundaries of another timing begin after
 * now. What waits for the end of an earlier firing keeps waiting, and runs with the new input.
 */
function change(tx: Tx, schedule: Schedule, input: ConfigureScheduleInput): ConfigureScheduleResult {
  if (schedule.pause === undefined) runDueBoundaries(tx, schedule, SCHEDULE_FIRE_MAX)
  if (schedule.work.payload !== undefined) tx.forget(scheduleInputKey(schedule))
  const isOtherTiming = schedule.timingDigest !== input.timingDigest
  Object.assign(schedule, definitionOf(input))
  schedule.revision = schedule.revision + 1
  schedule.changedAt = tx.now
  keepInput(tx, schedule, input)
  if (isOtherTiming) forgetPlan(tx, schedule, 'changed')
  askForBoundaries(tx, schedule)
  tx.put(schedule)
  emitScheduleChanged(tx, schedule, { effect: 'changed', by: input.by })
  return { kind: 'schedule_changed', schedule, at: tx.now }
}

/** Plans anew from now on. A boundary that has come and has only its jitter to wait still fires. */
export function forgetPlan(tx: Tx, schedule: Schedule, reason: 'changed' | 'paused'): void {
  const kept = schedule.planned.filter(({ at, fireAt }) => reason === 'changed' && at <= tx.now && fireAt > tx.now)
  const passed = schedule.planned.filter((firing) => firing.fireAt <= tx.now)
  const latest = passed[passed.length - 1]
  if (latest !== undefined) skip(tx, schedule, latest, reason)
  schedule.planned = kept
  // The clock may have gone back since the latest firing.
  schedule.plannedUntil = Math.max(tx.now, schedule.fired?.at ?? 0, kept[kept.length - 1]?.at ?? 0)
  schedule.isComplete = false
  schedule.isStalled = false
  schedule.planAt = tx.now + SCHEDULE_PLAN_RETRY_MS
}

function definitionOf({ owner, digest, timingDigest, timing, work, overlap, missed }: ConfigureScheduleInput) {
  const stored = { ...workSettings(work), tags: [...work.tags], payload: blobInfo(work.payload) }
  return { owner, digest, timingDigest, timing, work: stored, overlap, missed }
}

function keepInput(tx: Tx, schedule: Schedule, { work }: ConfigureScheduleInput): void {
  if (work.payload !== undefined) tx.keep(scheduleInputKey(schedule), work.payload.blob)
}
