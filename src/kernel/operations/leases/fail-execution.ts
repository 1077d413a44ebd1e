/** Fails the attempt of a holder. The retry policy of the execution decides about another. */
import { hasUnwound, leaseEnded, refuseUnlessHeld } from '../../lifecycle/fence.ts'
import type { LeaseRefusal } from '../../lifecycle/fence.ts'
import { endExecution, endUnwound } from '../../lifecycle/endings/end-execution.ts'
import type { ExecutionId, Failure, FailureInput, Fence, FlowId, Instant } from '../../model/records.ts'
import { refused } from '../../results.ts'
import type { Refused } from '../../results.ts'
import type { Tx } from '../../tx.ts'
import { scheduleRetry } from '../../lifecycle/schedule-retry.ts'
import { cancelIfRequested } from '../../lifecycle/endings/pending-cancel.ts'

export interface FailInput {
  readonly executionId: ExecutionId
  readonly fence: Fence
  readonly failure: FailureInput
  /** The delay that the failure itself requests; takes precedence over the policy's backoff. */
  readonly retryAfterMs?: number | undefined
  /** The flow of the execution, from its claim, so that a remote store loads both in one round trip. */
  readonly flowId?: FlowId | undefined
  readonly seed: number
}

export type FailResult =
  | { readonly kind: 'retry_scheduled' | 'already_scheduled'; readonly retryAt: Instant }
  | { readonly kind: 'failed' | 'already_failed' | 'cancelled' | 'already_cancelled' | 'unwound' | 'already_unwound' }
  | LeaseRefusal
  | Refused<'execution_not_found'>

export function failExecution(tx: Tx, input: FailInput): FailResult {
  const execution = tx.get('execution', input.executionId)
  if (execution === undefined) return refused('execution_not_found', { executionId: input.executionId })
  if (leaseEnded(execution, input.fence, 'failed')) {
    const until = execution.lastLease?.until
    return until === undefined ? { kind: 'already_failed' } : { kind: 'already_scheduled', retryAt: until }
  }
  if (hasUnwound(execution, input.fence)) return { kind: 'already_unwound' }
  if (leaseEnded(execution, input.fence, 'cancelled')) return { kind: 'already_cancelled' }
  const refusal = refuseUnlessHeld(tx, execution, input.fence)
  if (refusal !== undefined) return refusal

  if (cancelIfRequested(tx, execution) !== undefined) return { kind: 'cancelled' }
  const failure: Failure = {
    category: input.failure.category,
    message: input.failure.message,
    stack: input.failure.stack,
    at: tx.now,
  }
  const retryAt = scheduleRetry(tx, execution, {
    failure,
    how: 'failed',
    retryAfterMs: input.retryAfterMs,
    seed: input.seed,
  })
  if (retryAt !== undefined) return { kind: 'retry_scheduled', retryAt }
  execution.failureCount = execution.failureCount + 1
  if (execution.unwinding !== undefined) {
    endUnwound(tx, execution, failure)
    return { kind: 'unwound' }
  }
  endExecution(tx, execution, {
    outcome: 'failed',
    how: 'failed',
    reason: failure.message,
    by: undefined,
    failure,
    attemptOutcome: 'failed',
  })
  return { kind: 'failed' }
}
