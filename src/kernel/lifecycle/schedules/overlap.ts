/** Keeps the firings of a schedule apart: which earlier ones have not ended, and what stands in the way of the next. */
import { CANCEL_GRACE_DEFAULT_MS, DUE_ITEM_WORK, SCHEDULE_DUE_WORK } from '../../limits.ts'
import type { Execution, Schedule } from '../../model/records.ts'
import type { Tx } from '../../tx.ts'
import { hasLiveLease, requestCancel } from '../cancel-request.ts'
import { stopExecution } from '../endings/end-execution.ts'

const BY_SCHEDULE = 'schedule'

/** Reads the latest firings and forgets those that have ended. */
export function readOpen(tx: Tx, schedule: Schedule): Execution[] {
  const open: Execution[] = []
  if (schedule.open.length === 0) return open
  for (const execution of tx.getMany('execution', [...schedule.open])) {
    if (execution.state.phase !== 'ended') open.push(execution)
  }
  schedule.open = open.map(({ id }) => id)
  return open
}

/** Lets the end of each of these executions wake the schedule. */
export function awaitEnds(tx: Tx, schedule: Schedule, open: readonly Execution[]): void {
  for (const execution of open) {
    if (execution.awaitedBy !== undefined) continue
    execution.awaitedBy = schedule.id
    tx.put(execution)
  }
}

/**
 * Cancels earlier firings, as far as the operation has room: a running one has a grace and may undo its steps, any other ends now.
 * Returns whether some are left to cancel.
 */
export function cancelOpen(tx: Tx, schedule: Schedule, open: readonly Execution[]): 'cancelled' | 'short_of_room' {
  const reason = `the next firing of the schedule "${schedule.name}" is due`
  for (const execution of open) {
    if (execution.unwinding !== undefined) continue
    if (tx.room() < cancelWork(execution)) return 'short_of_room'
    const request = { reason, by: BY_SCHEDULE, graceMs: CANCEL_GRACE_DEFAULT_MS }
    if (hasLiveLease(tx, execution)) requestCancel(tx, execution, request)
    else stopExecution(tx, execution, { outcome: 'cancelled', reason, by: BY_SCHEDULE }, 'cancelled')
  }
  return 'cancelled'
}

function cancelWork({ journal }: Execution): number {
  return SCHEDULE_DUE_WORK + DUE_ITEM_WORK + (journal?.open.length ?? 0)
}
