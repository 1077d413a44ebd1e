/** Applies a cancel request, of an execution or of its flow, that has not taken effect yet. */
import type { Execution, LeaseEnd } from '../../model/records.ts'
import { stopsMembers } from '../../rules/flow-state.ts'
import type { Tx } from '../../tx.ts'
import { flowOf } from '../flow-counts.ts'
import { endCancelled } from './end-execution.ts'
import type { PendingCancel } from './end-execution.ts'

/**
 * Ends the execution as cancelled if a cancel of it or of its flow is pending. Used where an attempt ends without a
 * result, so that the execution is not queued again. Returns whether it ended.
 */
export function cancelIfRequested(tx: Tx, execution: Execution, how: LeaseEnd = 'cancelled'): boolean {
  const cancel = pendingCancel(tx, execution)
  if (cancel === undefined) return false
  endCancelled(tx, execution, cancel, how)
  return true
}

function pendingCancel(tx: Tx, execution: Execution): PendingCancel | undefined {
  const state = execution.state
  if (state.phase === 'active' && state.cancel !== undefined) return state.cancel
  const flow = flowOf(tx, execution)
  if (flow === undefined || !stopsMembers(flow) || flow.state.phase !== 'cancelled') return undefined
  return flow.state
}
