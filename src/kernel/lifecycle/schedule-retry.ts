/** Schedules the retry of a failed attempt by the retry policy of its execution. */
import type { Failure, Instant } from '../model/base-records.ts'
import type { Execution } from '../model/records.ts'
import { INCOMPLETE_RUN_MAX } from '../limits.ts'
import { refusalDelayMs } from '../rules/input-refusals.ts'
import { mayRetry, retryDelayMs } from '../rules/retry-policy.ts'
import { fractionOf } from '../rules/seeded-random.ts'
import type { Tx } from '../tx.ts'
import { recordAttempt } from './attempts.ts'
import { delayExecutionUntil } from './phases.ts'

export interface FailedAttempt {
  readonly failure: Failure
  readonly how: 'failed' | 'timed_out'
  readonly retryAfterMs?: number | undefined
  readonly seed: number
}

/** Ends the attempt and delays the execution until its retry. Returns undefined, and writes nothing, without one. */
export function scheduleRetry(tx: Tx, execution: Execution, attempt: FailedAttempt): Instant | undefined {
  const { failure, how, retryAfterMs, seed } = attempt
  if (!mayRetry(execution, failure.category)) return undefined
  const retryAt = tx.now + retryDelayMs(execution, retryAfterMs, fractionOf(seed))
  recordAttempt(tx, execution, { outcome: how, endedAt: tx.now, failure })
  execution.failureCount = execution.failureCount + 1
  execution.failure = failure
  const journal = execution.journal
  if (journal !== undefined) journal.round = journal.round + 1
  delayExecutionUntil(tx, execution, { until: retryAt, cause: 'retry', how, event: 'attempt_failed', failure })
  return retryAt
}

/**
 * Delays another run of a handler that undoes its steps, because this one has not registered all compensations. The policy
 * does not apply: the failure of such a run must not lose them. Returns undefined, and writes nothing, after too many.
 */
export function retryIncomplete(tx: Tx, execution: Execution, failure: Failure): Instant | undefined {
  const unwinding = execution.unwinding
  const runs = (unwinding?.incompleteRuns ?? 0) + 1
  if (unwinding === undefined || runs > INCOMPLETE_RUN_MAX) return undefined
  const until = tx.now + refusalDelayMs(runs)
  execution.unwinding = { ...unwinding, incompleteRuns: runs }
  recordAttempt(tx, execution, { outcome: 'failed', endedAt: tx.now, failure })
  execution.failure = failure
  // No failure of the policy is used up.
  delayExecutionUntil(tx, execution, { until, cause: 'retry', how: 'failed', event: 'execution_delayed', failure })
  return until
}
