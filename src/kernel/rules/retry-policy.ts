/** Decides whether and when a failed attempt is retried. */
import { RETRY_DELAY_MAX_MS } from '../limits.ts'
import { fractionOf } from './seeded-random.ts'
import type { Backoff, Execution } from '../model/records.ts'

/** Failures of these categories are final under every policy. */
const FINAL_CATEGORIES: readonly string[] = ['permanent', 'cancelled']

export function mayRetry(execution: Execution, category: string): boolean {
  if (FINAL_CATEGORIES.includes(category)) return false
  const only = execution.retry.onlyCategories
  if (only.length > 0 && !only.includes(category)) return false
  return execution.failureCount + 1 < execution.retry.attempts
}

/** Returns the delay before the attempt that follows failure number `failureCount`, counted from 1. */
export function backoffMs(backoff: Backoff, failureCount: number): number {
  if (backoff.kind === 'fixed') return Math.min(backoff.delayMs, RETRY_DELAY_MAX_MS)
  const cap = Math.min(backoff.maxMs, RETRY_DELAY_MAX_MS)
  let delay = backoff.initialMs
  // Multiplying step by step stops at the cap, so no exponent can overflow.
  for (let i = 1; i < failureCount && delay < cap; i++) delay = delay * backoff.factor
  return Math.floor(Math.min(delay, cap))
}

export function retryDelayMs(execution: Execution, retryAfterMs: number | undefined, seed: number): number {
  if (retryAfterMs !== undefined) return Math.min(retryAfterMs, RETRY_DELAY_MAX_MS)
  const delay = backoffMs(execution.retry.backoff, execution.failureCount + 1)
  return execution.retry.jitter ? Math.floor(delay * fractionOf(seed)) : delay
}
