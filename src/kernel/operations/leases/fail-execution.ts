/**
 * Fails the attempt of a holder. The retry policy of the execution decides about another. Without one the execution ends,
 * unless its handler has registered compensations: then the holder keeps its lease to run them, and the failure is stored
 * first, so that no later run can complete an execution some of whose steps were undone.
 */
import type { ParentRef } from '../../lifecycle/children/child-records.ts'
import { hasUnwound, leaseEnded, refuseUnlessHeld } from '../../lifecycle/fence.ts'
import type { LeaseRefusal } from '../../lifecycle/fence.ts'
import { endExecution, endUnwound } from '../../lifecycle/endings/end-execution.ts'
import type {
  Execution,
  ExecutionId,
  Failure,
  FailureInput,
  Fence,
  FlowId,
  Instant,
  Unwinding,
} from '../../model/records.ts'
import { refused } from '../../results.ts'
import type { Refused } from '../../results.ts'
import type { Tx } from '../../tx.ts'
import { retryIncomplete, scheduleRetry } from '../../lifecycle/schedule-retry.ts'
import { unwindUnderLease } from '../../lifecycle/phases.ts'
import { hasCompensations } from '../../rules/execution-state.ts'
import { failureAt } from '../../rules/failure.ts'
import { cancelIfRequested } from '../../lifecycle/endings/pending-cancel.ts'

export interface FailInput {
  readonly executionId: ExecutionId
  readonly fence: Fence
  readonly failure: FailureInput
  /** The delay that the failure itself requests; takes precedence over the policy's backoff. */
  readonly retryAfterMs?: number | undefined
  /** The flow of the execution, from its claim, so that a remote store loads both in one round trip. */
  readonly flowId?: FlowId | undefined
  /** The parent of the execution, from its claim, for the same reason. */
  readonly parent?: ParentRef | undefined
  /** The handler has registered fewer compensations than an earlier run, so none may run before another run. */
  readonly isIncomplete?: boolean | undefined
  readonly seed: number
}

export type FailResult =
  | { readonly kind: 'retry_scheduled' | 'already_scheduled'; readonly retryAt: Instant }
  | { readonly kind: 'failed' | 'already_failed' | 'cancelled' | 'already_cancelled' | 'unwound' | 'already_unwound' }
  /** The failure is final. The holder runs the registered compensations under its lease and ends the execution then. */
  | { readonly kind: 'unwinding' | 'already_unwinding'; readonly unwinding: Unwinding }
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
  const failure = failureAt(input.failure, tx.now)
  const { retryAfterMs, seed } = input
  const isPolicyUsed = execution.unwinding === undefined || input.isIncomplete !== true
  const retryAt = isPolicyUsed
    ? scheduleRetry(tx, execution, { failure, how: 'failed', retryAfterMs, seed })
    : undefined
  if (retryAt !== undefined) return { kind: 'retry_scheduled', retryAt }
  // After a replay from a step the number may be 0: no kept step is known to have one, and this run has registered none.
  const hasRegistered = hasCompensations(execution) && execution.journal?.compensationCount !== 0
  if (hasRegistered) return compensate(tx, execution, failure, input.isIncomplete === true)
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

/** Stores a final failure, and lets the holder run its compensations, or another run if this one has not registered all. */
function compensate(tx: Tx, execution: Execution, failure: Failure, isIncomplete: boolean): FailResult {
  const isStored = execution.unwinding?.failure !== undefined
  if (execution.unwinding === undefined) {
    execution.failureCount = execution.failureCount + 1
    unwindUnderLease(tx, execution, { outcome: 'failed', reason: failure.message, by: undefined, failure })
  } else if (!isStored && !isIncomplete) {
    execution.failureCount = execution.failureCount + 1
    execution.unwinding = { ...execution.unwinding, failure }
    tx.put(execution)
  }
  const retryAt = isIncomplete ? retryIncomplete(tx, execution, failure) : undefined
  if (retryAt !== undefined) return { kind: 'retry_scheduled', retryAt }
  const unwinding = execution.unwinding
  if (unwinding === undefined) return tx.fault('an execution with a final failure undoes no steps', execution.id)
  return { kind: isStored ? 'already_unwinding' : 'unwinding', unwinding }
}
