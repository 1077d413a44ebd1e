/**
 * Cancels an execution from any phase. Without a lease and without completed steps it ends at once. With completed steps
 * its handler runs once more, to undo them. The holder of a running execution is asked to stop and has a grace, after
 * which the due pass ends it. With `force` it ends now. A holder may cancel its own execution with its fence.
 */
import { hasUnwound, refuseUnlessHeld } from '../../lifecycle/fence.ts'
import type { LeaseRefusal } from '../../lifecycle/fence.ts'
import { hasLiveLease, requestCancel } from '../../lifecycle/cancel-request.ts'
import { endCancelled, stopExecution } from '../../lifecycle/endings/end-execution.ts'
import { unwindingUntil } from '../../rules/execution-state.ts'
import { failureAt } from '../../rules/failure.ts'
import type { ExecutionId, FailureInput, Fence, Instant } from '../../model/records.ts'
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
  /** With a fence: what went wrong while the holder undid its steps. */
  readonly failure?: FailureInput | undefined
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
    const isRepeated = input.fence !== undefined && hasUnwound(execution, input.fence)
    if (state.outcome === 'cancelled' || isRepeated) return { kind: 'already_cancelled' }
    return refusedFor('execution_ended', execution)
  }
  if (input.fence !== undefined) {
    const refusal = refuseUnlessHeld(tx, execution, input.fence)
    if (refusal !== undefined) return refusal
  }

  if (input.fence !== undefined || input.force) {
    const { failure } = input
    endCancelled(tx, execution, input, failure === undefined ? undefined : failureAt(failure, tx.now))
    return { kind: 'cancelled' }
  }
  if (execution.unwinding === undefined) {
    if (hasLiveLease(tx, execution)) {
      return { kind: 'cancel_requested', forceAt: requestCancel(tx, execution, input) }
    }
    const stop = { outcome: 'cancelled', reason: input.reason, by: input.by } as const
    if (stopExecution(tx, execution, stop, 'cancelled') === 'ended') return { kind: 'cancelled' }
  }
  return { kind: 'cancel_requested', forceAt: unwindingUntil(execution) ?? tx.now }
}
