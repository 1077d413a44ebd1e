/** Deletes a schedule. The executions and flows that it has created are not touched. */
import { forgetInputs } from '../../lifecycle/schedules/schedule-inputs.ts'
import { emitScheduleChanged } from '../../lifecycle/schedules/schedule-events.ts'
import { refused } from '../../results.ts'
import type { Refused } from '../../results.ts'
import type { Tx } from '../../tx.ts'

export interface DeleteScheduleInput {
  readonly scheduleId: string
  /** Only if the schedule was declared by this owner. */
  readonly owner?: string | undefined
  readonly by?: string | undefined
}

export type DeleteScheduleResult =
  { readonly kind: 'schedule_deleted' } | Refused<'schedule_not_found' | 'schedule_owned'>

export function deleteSchedule(tx: Tx, { scheduleId, owner, by }: DeleteScheduleInput): DeleteScheduleResult {
  const schedule = tx.get('schedule', scheduleId)
  if (schedule === undefined) return refused('schedule_not_found', {})
  if (owner !== undefined && schedule.owner !== owner) return refused('schedule_owned', { name: schedule.owner })

  forgetInputs(tx, schedule)
  tx.remove('schedule', schedule.id)
  emitScheduleChanged(tx, schedule, { effect: 'deleted', by })
  return { kind: 'schedule_deleted' }
}
