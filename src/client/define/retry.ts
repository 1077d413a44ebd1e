import { boolean, required, shape, unchecked, wholeNumber } from '../../options/shape.ts'
import { ATTEMPTS_MAX, RETRY_DELAY_MAX_MS } from '../../kernel/limits.ts'
import type { Backoff, RetryPolicy } from '../../kernel/model/records.ts'
import { parseDuration } from './duration.ts'
import type { Duration } from './duration.ts'
import { invalidInput, show, wrongValue } from '../checks/names.ts'

export interface RetryOptions {
  /** The number of tries, including the first. 1 means no retry. */
  readonly attempts: number
  readonly backoff?: 'fixed' | 'exponential' | FixedBackoff | ExponentialBackoff
  /** Randomizes the delay, so that simultaneous failures are not retried simultaneously. On by default. */
  readonly jitter?: boolean
  /** Only failures of these categories are retried. */
  readonly onlyCategories?: readonly string[]
}

/** Decides about one error whether a retry makes sense. Synchronous; runs in the worker and is not stored. */
export type ShouldRetry = (error: unknown) => boolean

/** The retry policy of a step, which is not stored, so it may contain a function. */
export interface StepRetryOptions extends RetryOptions {
  /** False makes a failure permanent, whatever the rest of the policy says. */
  readonly shouldRetry?: ShouldRetry
}

export interface FixedBackoff {
  readonly kind: 'fixed'
  readonly delay?: Duration
}

export interface ExponentialBackoff {
  readonly kind: 'exponential'
  readonly initial?: Duration
  readonly max?: Duration
  readonly factor?: number
}

const DEFAULT_DELAY_MS = 1_000
const DEFAULT_MAX_MS = 60_000
const DEFAULT_FACTOR = 2
const FACTOR_MAX = 100
const CATEGORY_COUNT_MAX = 32
const CATEGORY_LENGTH_MAX = 64

const NO_RETRY: RetryPolicy = { attempts: 1, backoff: { kind: 'fixed', delayMs: 0 }, jitter: false, onlyCategories: [] }

const fixedBackoff = shape<FixedBackoff>()("{ kind: 'fixed' }", { kind: unchecked(), delay: parseDelay })

const exponentialBackoff = shape<ExponentialBackoff>()("{ kind: 'exponential' }", {
  kind: unchecked(),
  initial: parseDelay,
  max: parseDelay,
  factor: (value, field) => {
    if (typeof value === 'number' && value >= 1 && value <= FACTOR_MAX) return value
    throw wrongValue(field, value, `from 1 to ${FACTOR_MAX}`)
  },
})

const retryOptions = shape<RetryOptions>()('{ attempts: 3 }', {
  /** Counts the first try. */
  attempts: required(wholeNumber(1, ATTEMPTS_MAX)),
  backoff: parseBackoff,
  jitter: boolean,
  onlyCategories: parseCategories,
})

/** Parses a retry policy. Refuses unknown settings instead of ignoring them. */
export function parseRetry(options: unknown, field = 'retry'): RetryPolicy {
  if (options === undefined) return NO_RETRY
  if (typeof options === 'object' && options !== null && 'shouldRetry' in options) {
    throw invalidInput(
      field,
      `${field} has shouldRetry, but the policy of a task is stored: pass the function to task.handle({ shouldRetry }, …).`,
    )
  }
  const {
    attempts,
    backoff = parseBackoff('exponential'),
    jitter = true,
    onlyCategories = [],
  } = retryOptions(options, field)
  return { attempts, backoff, jitter, onlyCategories }
}

function parseBackoff(backoff: unknown, field = 'retry.backoff'): Backoff {
  const options = typeof backoff === 'object' ? backoff : { kind: backoff }
  switch (options !== null && 'kind' in options ? options.kind : undefined) {
    case 'fixed':
      return { kind: 'fixed', delayMs: fixedBackoff(options, field).delay ?? DEFAULT_DELAY_MS }
    case 'exponential': {
      const { initial = DEFAULT_DELAY_MS, max, factor = DEFAULT_FACTOR } = exponentialBackoff(options, field)
      return { kind: 'exponential', initialMs: initial, maxMs: max ?? Math.max(DEFAULT_MAX_MS, initial), factor }
    }
    default:
      throw invalidInput(
        field,
        `${field} is ${show(backoff)}, but must be 'fixed', 'exponential' or an object of one of these kinds.`,
      )
  }
}

function parseDelay(value: unknown, field: string): number {
  return Math.min(parseDuration(value, field), RETRY_DELAY_MAX_MS)
}

function parseCategories(categories: unknown, field: string): string[] {
  if (!Array.isArray(categories) || categories.length > CATEGORY_COUNT_MAX) {
    throw invalidInput(field, `${field} must be a list of at most ${CATEGORY_COUNT_MAX} texts.`)
  }
  return categories.map((category: unknown) => {
    if (typeof category === 'string' && category !== '' && category.length <= CATEGORY_LENGTH_MAX) return category
    throw invalidInput(
      field,
      `${field} has ${show(category)}, but a category is a text of 1 to ${CATEGORY_LENGTH_MAX} characters.`,
    )
  })
}

/** Parses the retry policy of a step. */
export function parseStepRetry(options: unknown, field = 'retry') {
  if (typeof options !== 'object' || options === null || !('shouldRetry' in options)) {
    return { policy: parseRetry(options, field), shouldRetry: undefined }
  }
  const { shouldRetry, ...rest } = options
  return { policy: parseRetry(rest, field), shouldRetry: parseShouldRetry(shouldRetry, `${field}.shouldRetry`) }
}

export function parseShouldRetry(value: unknown, field: string): ShouldRetry | undefined {
  if (value === undefined || typeof value === 'function') return value as ShouldRetry | undefined
  throw wrongValue(field, value, 'a function from an error to true or false')
}
