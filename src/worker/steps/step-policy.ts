/** Decides whether and when a failed step is retried. Pure. */
import { CategorisedError, PermanentError, RetryAfterError, StepFailedError } from '../../client/define/errors.ts'
import { parseDuration } from '../../client/define/duration.ts'
import { shape } from '../../options/shape.ts'
import type { StepOptions } from '../../client/define/context.ts'
import { parseRetry, parseStepRetry } from '../../client/define/retry.ts'
import type { ShouldRetry } from '../../client/define/retry.ts'
import { mayRetry, retryDelayMs } from '../../kernel/index.ts'
import type { FailureInput, RetryPolicy } from '../../kernel/index.ts'
import { failureOf, unlessPermanent } from '../error-text.ts'

const TIMEOUT_MIN_MS = 1

const stepOptions = shape<StepOptions>()("{ retry: { attempts: 3 }, timeout: '30s' }", {
  retry: parseStepRetry,
  timeout: (value, field) => parseDuration(value, field, TIMEOUT_MIN_MS),
})

const PERMANENT = 'permanent'

export interface StepPolicy {
  readonly retry: RetryPolicy
  readonly shouldRetry: ShouldRetry | undefined
  readonly timeoutMs: number | undefined
}

const PLAIN: StepPolicy = { retry: parseRetry(undefined), shouldRetry: undefined, timeoutMs: undefined }

export function parseStepOptions(options: StepOptions | undefined): StepPolicy {
  if (options === undefined) return PLAIN
  const { retry, timeout: timeoutMs } = stepOptions(options)
  return { retry: retry?.policy ?? PLAIN.retry, shouldRetry: retry?.shouldRetry, timeoutMs }
}

/** Converts the value that a step threw into the failure to record. */
export function stepFailureOf({ shouldRetry }: StepPolicy, error: unknown): FailureInput {
  return unlessPermanent(failureFrom(error), error, shouldRetry)
}

function failureFrom(error: unknown): FailureInput {
  if (error instanceof StepFailedError) return { ...error.failure }
  if (error instanceof PermanentError) return failureOf(PERMANENT, error)
  return failureOf(error instanceof CategorisedError ? error.category : 'error', error)
}

/** Returns the delay of the next try, or undefined if there is none. `fraction` is random, in [0, 1). */
export function stepRetryMs(
  { retry }: StepPolicy,
  attempt: number,
  error: unknown,
  category: string,
  fraction: number,
): number | undefined {
  const retried = { retry, failureCount: attempt - 1 }
  if (!mayRetry(retried, category)) return undefined
  return retryDelayMs(retried, error instanceof RetryAfterError ? error.retryAfterMs : undefined, fraction)
}

/** The size of a recorded failure. */
export function failureBytes({ category, message, stack }: FailureInput): number {
  return Buffer.byteLength(category) + Buffer.byteLength(message) + Buffer.byteLength(stack ?? '')
}
