/** Wakes a schedule whose next firing waits for the end of an earlier one. */
import type { Execution } from '../../model/records.ts'
import type { Tx } from '../../tx.ts'

/** Makes the schedule that waits for an ended execution due at once. */
export function wakeSchedule(tx: Tx, execution: Execution, scheduleId: string): void {
  execution.awaitedBy = undefined
  tx.put(execution)
  const schedule = tx.get('schedule', scheduleId)
  // A deleted schedule fires nothing more.
  if (schedule === undefined || schedule.waiting.length === 0) return
  schedule.wakeAt = tx.now
  tx.put(schedule)
}
