/** Decides whether and when a failed attempt is retried. */
import { RETRY_DELAY_MAX_MS } from '../limits.ts'
import type { Backoff, RetryPolicy } from '../model/records.ts'

/** What is retried: an execution, or a step. */
interface Retried {
  readonly retry: RetryPolicy
  /** Failures before the one that is decided about. */
  readonly failureCount: number
}

/** Failures of these categories are final under every policy. */
const FINAL_CATEGORIES: readonly string[] = ['permanent', 'cancelled']

export function mayRetry({ retry, failureCount }: Retried, category: string): boolean {
  if (FINAL_CATEGORIES.includes(category)) return false
  const only = retry.onlyCategories
  if (only.length > 0 && !only.includes(category)) return false
  return failureCount + 1 < retry.attempts
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

/** `fraction` is random, in [0, 1). */
export function retryDelayMs(retried: Retried, retryAfterMs: number | undefined, fraction: number): number {
  if (retryAfterMs !== undefined) return Math.min(retryAfterMs, RETRY_DELAY_MAX_MS)
  const delay = backoffMs(retried.retry.backoff, retried.failureCount + 1)
  return retried.retry.jitter ? Math.floor(delay * fraction) : delay
}
