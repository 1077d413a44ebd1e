/** Applies a cancel request, of an execution or of its flow, that has not taken effect yet. */
import type { Execution, LeaseEnd } from '../../model/records.ts'
import { stopsMembers } from '../../rules/flow-state.ts'
import type { Tx } from '../../tx.ts'
import { flowOf } from '../flow-counts.ts'
import { stopExecution } from './end-execution.ts'
import type { PendingCancel } from './end-execution.ts'

/**
 * Stops the execution if a cancel of it or of its flow is pending. Used where an attempt ends without a result, so
 * that the execution is not queued again as if it were not cancelled. Returns what became of it.
 */
export function cancelIfRequested(
  tx: Tx,
  execution: Execution,
  how: LeaseEnd = 'cancelled',
): 'unwinding' | 'ended' | undefined {
  const cancel = pendingCancel(tx, execution)
  if (cancel === undefined) return undefined
  return stopExecution(tx, execution, { outcome: 'cancelled', reason: cancel.reason, by: cancel.by }, how)
}

function pendingCancel(tx: Tx, execution: Execution): PendingCancel | undefined {
  // It undoes its steps because of a cancel or a deadline: there is nothing more to request.
  if (execution.unwinding !== undefined) return undefined
  const state = execution.state
  if (state.phase === 'active' && state.cancel !== undefined) return state.cancel
  const flow = flowOf(tx, execution)
  if (flow === undefined || !stopsMembers(flow) || flow.state.phase !== 'cancelled') return undefined
  return flow.state
}
