/** Keeps the firings of a schedule apart: which earlier ones have not ended, and what stands in the way of the next. */
import { CANCEL_GRACE_DEFAULT_MS, DUE_ITEM_WORK, FLOW_ITEM_WORK, SCHEDULE_DUE_WORK } from '../../limits.ts'
import { isFlowId } from '../../model/names.ts'
import type { Execution, Flow, Schedule } from '../../model/records.ts'
import { isFlowFinished } from '../../rules/flow-state.ts'
import type { Tx } from '../../tx.ts'
import { hasLiveLease, requestCancel } from '../cancel-request.ts'
import { stopExecution } from '../endings/end-execution.ts'
import { putFlow } from '../flow-counts.ts'
import { beginCancel } from '../flows/begin-cancel.ts'

const BY_SCHEDULE = 'schedule'

/** What a firing has created. */
export type Fired = Execution | Flow

/** Reads the latest firings and forgets those that have ended. */
export function readOpen(tx: Tx, schedule: Schedule): Fired[] {
  const open = readFired(tx, schedule.open).filter(isOpen)
  schedule.open = open.map(({ id }) => id)
  return open
}

/** Reads firings, as far as they still exist. A schedule that was changed may have fired executions and flows. */
export function readFired(tx: Tx, ids: readonly string[]): Fired[] {
  const flowIds = ids.filter(isFlowId)
  const executionIds = ids.filter((id) => !isFlowId(id))
  return [
    ...(executionIds.length === 0 ? [] : tx.getMany('execution', executionIds)),
    ...(flowIds.length === 0 ? [] : tx.getMany('flow', flowIds)),
  ]
}

function isOpen(fired: Fired): boolean {
  return fired.type === 'flow' ? !isFlowFinished(fired) : fired.state.phase !== 'ended'
}

/** Lets the end of each of these firings wake the schedule. */
export function awaitEnds(tx: Tx, schedule: Schedule, open: readonly Fired[]): void {
  for (const fired of open) {
    if (fired.awaitedBy !== undefined) continue
    fired.awaitedBy = schedule.id
    if (fired.type === 'flow') putFlow(tx, fired)
    else tx.put(fired)
  }
}

/**
 * Cancels earlier firings, as far as the operation has room: a running one has a grace and may undo its steps, any other ends now.
 * Members of a flow likewise.
 * Returns whether some are left to cancel.
 */
export function cancelOpen(tx: Tx, schedule: Schedule, open: readonly Fired[]): 'cancelled' | 'short_of_room' {
  const reason = `the next firing of the schedule "${schedule.name}" is due`
  const request = { reason, by: BY_SCHEDULE, graceMs: CANCEL_GRACE_DEFAULT_MS }
  for (const fired of open) {
    if (isBeingCancelled(fired)) continue
    if (tx.room() < cancelWork(fired)) return 'short_of_room'
    if (fired.type === 'flow') beginCancel(tx, fired, { ...request, policy: 'cancel_all', force: false })
    else if (hasLiveLease(tx, fired)) requestCancel(tx, fired, request)
    else stopExecution(tx, fired, { outcome: 'cancelled', reason, by: BY_SCHEDULE }, 'cancelled')
  }
  // The walk over the members of a flow takes all the room there is.
  return tx.room() < SCHEDULE_DUE_WORK ? 'short_of_room' : 'cancelled'
}

function isBeingCancelled(fired: Fired): boolean {
  return fired.type === 'flow' ? fired.state.phase === 'cancelled' : fired.unwinding !== undefined
}

function cancelWork(fired: Fired): number {
  if (fired.type === 'flow') return SCHEDULE_DUE_WORK + FLOW_ITEM_WORK
  return SCHEDULE_DUE_WORK + DUE_ITEM_WORK + (fired.journal?.open.length ?? 0)
}
