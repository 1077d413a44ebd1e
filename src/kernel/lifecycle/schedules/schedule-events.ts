/** The events of schedules. The executions that a schedule creates have events of their own. */
import type { EventSubject } from '../../model/events.ts'
import type { ExecutionId, Instant, Schedule } from '../../model/records.ts'
import type { SkipReason } from '../../model/schedule-schema.ts'
import type { Tx } from '../../tx.ts'

/** What was done to a schedule: the `effect` of its event. */
export type ScheduleEffect = 'created' | 'changed' | 'paused' | 'resumed' | 'deleted'

/** Returns a schedule as the subject of an event, with its name in the place of an execution's id. */
function scheduleSubject({ name, namespace, work }: Schedule): EventSubject {
  const { task, lane, tags } = work
  return { id: name as ExecutionId, namespace, task, lane, tags: [...tags], member: undefined }
}

export function emitScheduleChanged(
  tx: Tx,
  schedule: Schedule,
  detail: { readonly effect: ScheduleEffect; readonly by?: string | undefined; readonly reason?: string | undefined },
): void {
  tx.emit('schedule_changed', scheduleSubject(schedule), detail)
}

/** `until` is the boundary. */
export function emitSkipped(tx: Tx, schedule: Schedule, at: Instant, reason: SkipReason): void {
  tx.emit('schedule_skipped', scheduleSubject(schedule), { until: at, reason })
}
