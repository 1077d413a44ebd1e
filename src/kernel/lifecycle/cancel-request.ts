/** Asks the holder of a running execution to stop. The holder learns of it through its lease and has a grace period. */
import { COMPENSATION_TIMEOUT_DEFAULT_MS } from '../limits.ts'
import { oweAllCancels } from '../rules/child-cancels.ts'
import { hasStepsToUndo } from '../rules/execution-state.ts'
import type { Execution, Instant } from '../model/records.ts'
import type { Tx } from '../tx.ts'

export interface CancelRequestInput {
  readonly reason: string
  readonly by: string
  readonly graceMs: number
}

/** Whether the execution has a lease that has not expired. */
export function hasLiveLease(tx: Tx, execution: Execution): boolean {
  const state = execution.state
  return state.phase === 'active' && state.lease.expiresAt > tx.now
}

/** Records a cancel request. Idempotent: the first request keeps its reason and grace. Returns the end of the grace. */
export function requestCancel(tx: Tx, execution: Execution, request: CancelRequestInput): Instant {
  const state = execution.state
  if (state.phase !== 'active') return tx.fault('a cancel is requested of an execution without a lease', execution.id)
  if (state.cancel !== undefined) return state.cancel.forceAt
  const forceAt = tx.now + request.graceMs
  state.cancel = { reason: request.reason, by: request.by, at: tx.now, forceAt }
  if (hasStepsToUndo(execution)) giveTimeToUndo(tx, execution)
  oweAllCancels(execution.journal, tx.now)
  tx.put(execution)
  tx.emit('cancel_requested', execution, {
    attempt: execution.attempt?.number,
    workerId: state.lease.workerId,
    workerInstanceId: state.lease.workerInstanceId,
    until: state.cancel.forceAt,
    reason: request.reason,
    by: request.by,
  })
  return state.cancel.forceAt
}

/**
 * Gives a holder that was asked to stop the time to undo its steps. Not less than the rest of its lease: if the holder is
 * dead, the lease expires first, and another worker undoes the steps. The caller puts the execution.
 */
export function giveTimeToUndo(tx: Tx, execution: Execution): void {
  const state = execution.state
  if (state.phase !== 'active' || state.cancel === undefined) return
  const timeoutMs = execution.compensationTimeoutMs ?? COMPENSATION_TIMEOUT_DEFAULT_MS
  state.cancel.forceAt = Math.max(state.cancel.forceAt, tx.now + timeoutMs, state.lease.expiresAt + 1)
}
