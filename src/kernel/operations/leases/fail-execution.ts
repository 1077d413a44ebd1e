/** A holder reports that its attempt failed. The policy on the record decides whether another follows. */
import { recordAttempt } from '../../lifecycle/attempts.ts'
import { cancelWish } from '../../lifecycle/pending-cancel.ts'
import { leaseEnded, refuseUnlessHeld } from '../../lifecycle/fence.ts'
import type { LeaseRefusal } from '../../lifecycle/fence.ts'
import { endCancelled, endExecution } from '../../lifecycle/endings/end-execution.ts'
import { delayExecutionUntil } from '../../lifecycle/phases.ts'
import type {
  AttemptOutcome,
  Execution,
  ExecutionId,
  Failure,
  Fence,
  FlowId,
  Instant,
  LeaseEnd,
} from '../../model/records.ts'
import { refused } from '../../results.ts'
import type { Refused } from '../../results.ts'
import { mayRetry, retryDelayMs } from '../../rules/retry-policy.ts'
import type { Tx } from '../../tx.ts'

export interface FailureInput {
  /** `permanent` and `cancelled` are never retried; any other word is judged by the retry policy. */
  readonly category: string
  readonly message: string
  readonly stack?: string | undefined
}

export interface FailInput {
  readonly executionId: ExecutionId
  readonly fence: Fence
  readonly failure: FailureInput
  /** The wait that the failure itself asked for; it wins over the policy's backoff. */
  readonly retryAfterMs?: number | undefined
  /** The flow that it is a member of, as its claim said: what is read of it can then be fetched in one go. */
  readonly flowId?: FlowId | undefined
  readonly seed: number
}

export type FailResult =
  | { readonly kind: 'retry_scheduled' | 'already_scheduled'; readonly retryAt: Instant }
  | { readonly kind: 'failed' | 'already_failed' | 'cancelled' | 'already_cancelled' }
  | LeaseRefusal
  | Refused<'execution_not_found'>

export function failExecution(tx: Tx, input: FailInput): FailResult {
  const execution = tx.get('execution', input.executionId)
  if (execution === undefined) return refused('execution_not_found', { executionId: input.executionId })
  if (leaseEnded(execution, input.fence, 'failed')) {
    const until = execution.lastLease?.until
    return until === undefined ? { kind: 'already_failed' } : { kind: 'already_scheduled', retryAt: until }
  }
  if (leaseEnded(execution, input.fence, 'cancelled')) return { kind: 'already_cancelled' }
  const refusal = refuseUnlessHeld(tx, execution, input.fence)
  if (refusal !== undefined) return refusal

  if (cancelIfAsked(tx, execution)) return { kind: 'cancelled' }
  const failure: Failure = {
    category: input.failure.category,
    message: input.failure.message,
    stack: input.failure.stack,
    at: tx.now,
  }
  const retryAt = scheduleRetry(tx, execution, failure, 'failed', 'failed', input.retryAfterMs, input.seed)
  if (retryAt !== undefined) return { kind: 'retry_scheduled', retryAt }
  execution.failureCount = execution.failureCount + 1
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

/** Ends the attempt and parks the execution until its next one. Undefined, and nothing written, if none follows. */
export function scheduleRetry(
  tx: Tx,
  execution: Execution,
  failure: Failure,
  how: LeaseEnd,
  attemptOutcome: AttemptOutcome,
  retryAfterMs: number | undefined,
  seed: number,
): Instant | undefined {
  if (!mayRetry(execution, failure.category)) return undefined
  const retryAt = tx.now + retryDelayMs(execution, retryAfterMs, seed)
  recordAttempt(tx, execution, attemptOutcome, tx.now, failure)
  execution.failureCount = execution.failureCount + 1
  execution.failure = failure
  const journal = execution.journal
  if (journal !== undefined) journal.round = journal.round + 1
  delayExecutionUntil(tx, execution, retryAt, 'retry', how, 'attempt_failed', failure)
  return retryAt
}
