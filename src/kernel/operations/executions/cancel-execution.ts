/**
 * Cancels an execution from any phase. Without a lease it ends at once. The holder of a running execution is asked to
 * stop and has a grace, after which the due pass ends it; with `force` it ends now. A holder may cancel its own
 * execution with its fence.
 */
import { refuseUnlessHeld } from '../../lifecycle/fence.ts'
import type { LeaseRefusal } from '../../lifecycle/fence.ts'
import { hasLiveLease, requestCancel } from '../../lifecycle/cancel-request.ts'
import { endCancelled } from '../../lifecycle/endings/end-execution.ts'
import type { ExecutionId, Fence, Instant } from '../../model/records.ts'
import { refused, refusedFor } from '../../results.ts'
import type { Refused } from '../../results.ts'
import type { Tx } from '../../tx.ts'

export interface CancelInput {
  readonly executionId: ExecutionId
  readonly reason: string
  readonly by: string
  /** The holder's own fence. Without it the call has an operator's authority. */
  readonly fence?: Fence | undefined
  readonly force: boolean
  readonly graceMs: number
}

export type CancelResult =
  | { readonly kind: 'cancelled' | 'already_cancelled' }
  | { readonly kind: 'cancel_requested'; readonly forceAt: Instant }
  | LeaseRefusal
  | Refused<'execution_not_found' | 'execution_ended'>

export function cancelExecution(tx: Tx, input: CancelInput): CancelResult {
  const execution = tx.get('execution', input.executionId)
  if (execution === undefined) return refused('execution_not_found', { executionId: input.executionId })
  const state = execution.state
  if (state.phase === 'ended') {
    return state.outcome === 'cancelled' ? { kind: 'already_cancelled' } : refusedFor('execution_ended', execution)
  }
  if (input.fence !== undefined) {
    const refusal = refuseUnlessHeld(tx, execution, input.fence)
    if (refusal !== undefined) return refusal
  }

  if (hasLiveLease(tx, execution) && input.fence === undefined && !input.force) {
    return { kind: 'cancel_requested', forceAt: requestCancel(tx, execution, input) }
  }
  endCancelled(tx, execution, input)
  return { kind: 'cancelled' }
}
