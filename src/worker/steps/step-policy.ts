/** Whether a step that failed is tried again, and when: decided from what it threw, without touching anything. */
import { CategorisedError, PermanentError, RetryAfterError, StepFailedError } from '../../client/define/errors.ts'
import { parseDuration } from '../../client/define/duration.ts'
import { checkOptions } from '../../client/checks/names.ts'
import type { StepOptions } from '../../client/define/context.ts'
import { parseRetry } from '../../client/define/retry.ts'
import { RETRY_DELAY_MAX_MS, backoffMs } from '../../kernel/index.ts'
import type { FailureInput, RetryPolicy } from '../../kernel/index.ts'
import { failureOf } from '../error-text.ts'

const STEP_KEYS = ['retry', 'timeout'] as const satisfies readonly (keyof StepOptions)[]

/** No work is done in no time. */
const TIMEOUT_MIN_MS = 1

const PERMANENT = 'permanent'
/** Failures of these categories are final whatever the policy says, as those of attempts are. */
const FINAL_CATEGORIES: readonly string[] = [PERMANENT, 'cancelled']

export interface StepPolicy {
  readonly retry: RetryPolicy
  readonly timeoutMs: number | undefined
}

const PLAIN: StepPolicy = { retry: parseRetry(undefined), timeoutMs: undefined }

export function parseStepOptions(options: StepOptions | undefined): StepPolicy {
  if (options === undefined) return PLAIN
  checkOptions(options, STEP_KEYS, "{ retry: { attempts: 3 }, timeout: '30s' }")
  const { retry, timeout } = options
  return {
    retry: parseRetry(retry),
    timeoutMs: timeout === undefined ? undefined : parseDuration(timeout, 'timeout', TIMEOUT_MIN_MS),
  }
}

/** What is recorded of whatever a step threw. */
export function stepFailureOf(error: unknown): FailureInput {
  if (error instanceof StepFailedError) return { ...error.failure }
  if (error instanceof PermanentError) return failureOf(PERMANENT, error)
  return failureOf(error instanceof CategorisedError ? error.category : 'error', error)
}

/** How long until the next try; undefined if there is none. `fraction` is chance, in [0, 1). */
export function stepRetryMs(
  { retry }: StepPolicy,
  attempt: number,
  error: unknown,
  category: string,
  fraction: number,
): number | undefined {
  if (attempt >= retry.attempts || FINAL_CATEGORIES.includes(category)) return undefined
  if (retry.onlyCategories.length > 0 && !retry.onlyCategories.includes(category)) return undefined
  if (error instanceof RetryAfterError) return Math.min(error.retryAfterMs, RETRY_DELAY_MAX_MS)
  const delayMs = backoffMs(retry.backoff, attempt)
  return retry.jitter ? Math.floor(delayMs * fraction) : delayMs
}

/** Bytes that a recorded failure takes. */
export function failureBytes({ category, message, stack }: FailureInput): number {
  return Buffer.byteLength(category) + Buffer.byteLength(message) + Buffer.byteLength(stack ?? '')
}
