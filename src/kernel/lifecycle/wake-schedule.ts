/** Wakes a schedule whose next firing waits for the end of an earlier one. */
import type { Execution, Flow } from '../model/records.ts'
import type { Tx } from '../tx.ts'

/** Makes the schedule that waits for an ended execution, or a finished flow, due at once. The caller puts a flow. */
export function wakeSchedule(tx: Tx, ended: Execution | Flow, scheduleId: string): void {
  ended.awaitedBy = undefined
  if (ended.type === 'execution') tx.put(ended)
  const schedule = tx.get('schedule', scheduleId)
  // A deleted schedule fires nothing more.
  if (schedule === undefined || schedule.waiting.length === 0) return
  schedule.wakeAt = tx.now
  tx.put(schedule)
}
