/** Schedules the retry of a failed attempt by the retry policy of its execution. */
import type { Failure, Instant } from '../model/base-records.ts'
import type { Execution } from '../model/records.ts'
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
