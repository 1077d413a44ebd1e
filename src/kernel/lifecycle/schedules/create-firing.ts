/** Creates the execution of a firing, with the settings and the input that the schedule stores. */
import { payloadKeyOf, scheduleInputKey } from '../../model/blob-keys.ts'
import type { ExecutionId, FiringCause, Schedule } from '../../model/records.ts'
import type { PlannedFiring, ScheduledWork, SkipReason } from '../../model/schedule-schema.ts'
import type { Tx } from '../../tx.ts'
import { refuseHeld } from '../lanes.ts'
import { newExecution } from '../new-execution.ts'
import type { CreateInput } from '../new-execution.ts'
import { enterQueue, refuseQueues } from '../queues.ts'

export interface Firing extends PlannedFiring {
  readonly cause: FiringCause
}

/** `exists`: the boundary has an execution or a flow already, which an earlier schedule of the name or a backfill has created. */
export type FiringResult =
  'created' | 'exists' | Extract<SkipReason, 'lane_draining' | 'lane_disabled' | 'too_many_needs'>

export function createFiring(tx: Tx, schedule: Schedule, { executionId: id, at, cause }: Firing): FiringResult {
  const executionId = id as ExecutionId
  if (tx.has('execution', executionId)) return 'exists'
  const input: CreateInput = {
    ...workSettings(schedule.work),
    executionId,
    namespace: schedule.namespace,
    schedule: { id: schedule.id, at, cause },
  }
  const refusal = refuseHeld(tx, input) ?? refuseQueues(tx, [input])
  if (refusal !== undefined) return refusal.code
  const execution = newExecution(tx, input, 0)
  const { payload } = schedule.work
  execution.payload = payload
  enterQueue(tx, execution)
  tx.put(execution)
  if (payload !== undefined) tx.copy(scheduleInputKey(schedule), payloadKeyOf(execution))
  tx.emit('execution_created', execution, { by: 'schedule', effect: cause, reason: schedule.name })
  return 'created'
}

export type WorkSettings = Omit<
  CreateInput,
  | 'executionId'
  | 'key'
  | 'requestId'
  | 'namespace'
  | 'payload'
  | 'digest'
  | 'dedupeMs'
  | 'delayMs'
  | 'ifExists'
  | 'schedule'
  | 'trace'
  | 'shaping'
>

/** Every setting by its name, so that the compiler reports one that a schedule would lose. */
type AllSettings = { readonly [K in keyof Required<WorkSettings>]: WorkSettings[K] }

/** Returns the settings that a schedule stores for its executions. */
export function workSettings(from: WorkSettings | ScheduledWork): AllSettings {
  return {
    task: from.task,
    version: from.version,
    lane: from.lane,
    class: from.class,
    needs: from.needs,
    priority: from.priority,
    tags: from.tags,
    retry: from.retry,
    attemptTimeoutMs: from.attemptTimeoutMs,
    totalTimeoutMs: from.totalTimeoutMs,
    compensationTimeoutMs: from.compensationTimeoutMs,
    retentionMs: from.retentionMs,
    fairness: from.fairness,
    limits: from.limits,
    retentions: from.retentions,
  }
}
