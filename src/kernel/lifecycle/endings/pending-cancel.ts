/** Applies a cancel request, of an execution or of its flow, that has not taken effect yet. */
import type { Execution, LeaseEnd } from '../../model/records.ts'
import { stopsMembers } from '../../rules/flow-state.ts'
import type { Tx } from '../../tx.ts'
import { flowOf } from '../flow-counts.ts'
import { endCancelled } from './end-execution.ts'

/**
 * An attempt that ends without a result, where somebody wants the execution or its flow cancelled, ends that execution
 * too: it is not queued again.
 */
export function cancelIfAsked(tx: Tx, execution: Execution, how: LeaseEnd = 'cancelled'): boolean {
  const wish = cancelWish(tx, execution)
  if (wish === undefined) return false
  endCancelled(tx, execution, wish.reason, wish.by, how)
  return true
}
export interface CancelWish {
  readonly reason: string
  readonly by: string
}
function cancelWish(tx: Tx, execution: Execution): CancelWish | undefined {
  const state = execution.state
  if (state.phase === 'active' && state.cancel !== undefined) {
    return { reason: state.cancel.reason, by: state.cancel.by }
  }
  const flow = flowOf(tx, execution)
  if (flow === undefined || !stopsMembers(flow) || flow.state.phase !== 'cancelled') return undefined
  return { reason: flow.state.reason, by: flow.state.by }
}
