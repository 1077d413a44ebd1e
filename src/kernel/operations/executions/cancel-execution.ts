/**
 * Cancels an execution from any phase. Without a lease and without completed steps it ends at once. With completed steps
 * its handler runs once more, to undo them. The holder of a running execution is asked to stop and has a grace, after
 * which the due pass ends it. With `force` it ends now. A holder may cancel its own execution with its fence. Unless a
 * holder cancels itself, a pending follow-up is dropped: the cancel is for all work that was submitted before it.
 */
import { hasUnwound, leaseEnded, refuseUnlessHeld } from '../../lifecycle/fence.ts'
import type { LeaseRefusal } from '../../lifecycle/fence.ts'
import { hasLiveLease, requestCancel } from '../../lifecycle/cancel-request.ts'
import { endCancelled, stopExecution } from '../../lifecycle/endings/end-execution.ts'
import { dropFollowUp } from '../../lifecycle/follow-up.ts'
import { unwindingUntil } from '../../rules/execution-state.ts'
import { failureAt } from '../../rules/failure.ts'
import type { Execution, ExecutionId, FailureInput, Fence, Instant } from '../../model/records.ts'
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
  | ({ readonly kind: 'cancelled' } & Dropped)
  | ({ readonly kind: 'already_cancelled' } & Dropped)
  | ({ readonly kind: 'cancel_requested'; readonly forceAt: Instant } & Dropped)
  | LeaseRefusal
  | Refused<'execution_not_found' | 'execution_ended'>

interface Dropped {
  /** Set if a follow-up was pending, which will not run. */
  readonly droppedFollowUp?: true
}

export function cancelExecution(tx: Tx, input: CancelInput): CancelResult {
  const execution = tx.get('execution', input.executionId)
  if (execution === undefined) return refused('execution_not_found', { executionId: input.executionId })
  if (input.fence !== undefined && hasCancelledItself(execution, input.fence)) return { kind: 'already_cancelled' }
  const state = execution.state
  if (state.phase === 'ended') {
    const { outcome } = state
    // A follow-up may still wait until the children are cancelled.
    const dropped = dropUnlessOwn(tx, execution, input)
    if (outcome === 'cancelled') return { kind: 'already_cancelled', ...dropped }
    return dropped.droppedFollowUp === true
      ? { kind: 'cancelled', ...dropped }
      : refusedFor('execution_ended', execution)
  }
  if (input.fence !== undefined) {
    const refusal = refuseUnlessHeld(tx, execution, input.fence)
    if (refusal !== undefined) return refusal
  }

  const dropped = dropUnlessOwn(tx, execution, input)
  if (input.fence !== undefined || input.force) {
    const { failure } = input
    endCancelled(tx, execution, input, failure === undefined ? undefined : failureAt(failure, tx.now))
    return { kind: 'cancelled', ...dropped }
  }
  if (execution.unwinding === undefined) {
    if (hasLiveLease(tx, execution)) {
      return { kind: 'cancel_requested', forceAt: requestCancel(tx, execution, input), ...dropped }
    }
    const stop = { outcome: 'cancelled', reason: input.reason, by: input.by } as const
    if (stopExecution(tx, execution, stop, 'cancelled') === 'ended') return { kind: 'cancelled', ...dropped }
  }
  return { kind: 'cancel_requested', forceAt: unwindingUntil(execution) ?? tx.now, ...dropped }
}

/** Drops the follow-up, unless a holder cancels itself. */
function dropUnlessOwn(tx: Tx, execution: Execution, { fence, by, reason }: CancelInput): Dropped {
  const isDropped = fence === undefined && dropFollowUp(tx, execution, by, reason)
  return isDropped ? { droppedFollowUp: true } : {}
}

/** Whether the run of this fence was cancelled by its holder. Its follow-up may have begun since. */
function hasCancelledItself(execution: Execution, fence: Fence): boolean {
  if (hasUnwound(execution, fence)) return true
  return execution.pastRequests !== undefined && leaseEnded(execution, fence, 'cancelled')
}
