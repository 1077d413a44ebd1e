/** Asking the holder of a running execution to stop: it is told through its lease and given a grace. */
import type { Execution, Instant } from '../model/records.ts'
import type { Tx } from '../tx.ts'

export interface CancelDemand {
  readonly reason: string
  readonly by: string
  readonly graceMs: number
}

/** Whether somebody holds it whose lease has not run out. */
export function isHeldNow(tx: Tx, execution: Execution): boolean {
  const state = execution.state
  return state.phase === 'active' && state.lease.expiresAt > tx.now
}

/** The first wish counts: asking again neither extends the grace nor replaces the reason. Says when the grace is over. */
export function requestCancel(tx: Tx, execution: Execution, demand: CancelDemand): Instant {
  const state = execution.state
  if (state.phase !== 'active') return tx.fault('a cancel is asked of an execution that nobody holds', execution.id)
  if (state.cancel !== undefined) return state.cancel.forceAt
  const forceAt = tx.now + demand.graceMs
  state.cancel = { reason: demand.reason, by: demand.by, at: tx.now, forceAt }
  tx.put(execution)
  tx.emit('cancel_requested', execution, {
    attempt: execution.attempt?.number,
    workerId: state.lease.workerId,
    workerInstanceId: state.lease.workerInstanceId,
    until: forceAt,
    reason: demand.reason,
    by: demand.by,
  })
  return forceAt
}
