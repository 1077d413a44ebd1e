import { optionKeys } from '../checks/exhaustive.ts'
import { ATTEMPTS_MAX, RETRY_DELAY_MAX_MS } from '../../kernel/limits.ts'
import type { Backoff, RetryPolicy } from '../../kernel/model/records.ts'
import { parseDuration } from './duration.ts'
import type { Duration } from './duration.ts'
import { checkBoolean, checkKeys, checkObject, invalidInput, show } from '../checks/names.ts'

export interface RetryOptions {
  /** The number of tries, including the first. 1 means no retry. */
  readonly attempts: number
  readonly backoff?: 'fixed' | 'exponential' | FixedBackoff | ExponentialBackoff
  /** Randomizes the delay, so that simultaneous failures are not retried simultaneously. On by default. */
  readonly jitter?: boolean
  /** Only failures of these categories are retried. */
  readonly onlyCategories?: readonly string[]
}

const RETRY_KEYS = optionKeys<RetryOptions>()(['attempts', 'backoff', 'jitter', 'onlyCategories'])

export interface FixedBackoff {
  readonly kind: 'fixed'
  readonly delay?: Duration
}

const FIXED_KEYS = optionKeys<FixedBackoff>()(['kind', 'delay'])

export interface ExponentialBackoff {
  readonly kind: 'exponential'
  readonly initial?: Duration
  readonly max?: Duration
  readonly factor?: number
}

const EXPONENTIAL_KEYS = optionKeys<ExponentialBackoff>()(['kind', 'initial', 'max', 'factor'])

const DEFAULT_DELAY_MS = 1_000
const DEFAULT_MAX_MS = 60_000
const DEFAULT_FACTOR = 2
const FACTOR_MAX = 100
const CATEGORY_COUNT_MAX = 32
const CATEGORY_LENGTH_MAX = 64

const NO_RETRY: RetryPolicy = { attempts: 1, backoff: { kind: 'fixed', delayMs: 0 }, jitter: false, onlyCategories: [] }

/** Parses a retry policy. Refuses unknown settings instead of ignoring them. */
export function parseRetry(options: RetryOptions | undefined): RetryPolicy {
  if (options === undefined) return NO_RETRY
  checkObject(options, 'retry', '{ attempts: 3 }')
  checkKeys(options, RETRY_KEYS, 'retry')
  const { attempts, backoff = 'exponential', jitter = true, onlyCategories = [] } = options
  if (!Number.isInteger(attempts) || attempts < 1 || attempts > ATTEMPTS_MAX) {
    throw invalidInput(
      'retry.attempts',
      `retry.attempts is ${show(attempts)}, but must be a whole number from 1 to ${ATTEMPTS_MAX}; it counts the first try.`,
    )
  }
  checkBoolean(jitter, 'retry.jitter')
  return { attempts, backoff: parseBackoff(backoff), jitter, onlyCategories: parseCategories(onlyCategories) }
}

function parseBackoff(backoff: NonNullable<RetryOptions['backoff']>): Backoff {
  const options = (typeof backoff === 'object' ? backoff : { kind: backoff }) as
    FixedBackoff | ExponentialBackoff | null
  switch (options?.kind) {
    case 'fixed':
      checkKeys(options, FIXED_KEYS, 'retry.backoff')
      return { kind: 'fixed', delayMs: parseDelay(options.delay, DEFAULT_DELAY_MS, 'retry.backoff.delay') }
    case 'exponential': {
      checkKeys(options, EXPONENTIAL_KEYS, 'retry.backoff')
      const factor = options.factor ?? DEFAULT_FACTOR
      if (typeof factor !== 'number' || !(factor >= 1 && factor <= FACTOR_MAX)) {
        throw invalidInput(
          'retry.backoff.factor',
          `retry.backoff.factor is ${show(factor)}, but must be from 1 to ${FACTOR_MAX}.`,
        )
      }
      const initialMs = parseDelay(options.initial, DEFAULT_DELAY_MS, 'retry.backoff.initial')
      const maxMs = parseDelay(options.max, Math.max(DEFAULT_MAX_MS, initialMs), 'retry.backoff.max')
      return { kind: 'exponential', initialMs, maxMs, factor }
    }
    default:
      throw invalidInput(
        'retry.backoff',
        `retry.backoff is ${show(backoff)}, but must be 'fixed', 'exponential' or an object of one of these kinds.`,
      )
  }
}

function parseDelay(value: Duration | undefined, defaultMs: number, field: string): number {
  return value === undefined ? defaultMs : Math.min(parseDuration(value, field), RETRY_DELAY_MAX_MS)
}

function parseCategories(categories: readonly string[]): string[] {
  if (!Array.isArray(categories) || categories.length > CATEGORY_COUNT_MAX) {
    throw invalidInput(
      'retry.onlyCategories',
      `retry.onlyCategories must be a list of at most ${CATEGORY_COUNT_MAX} texts.`,
    )
  }
  return categories.map((category: unknown) => {
    if (typeof category === 'string' && category !== '' && category.length <= CATEGORY_LENGTH_MAX) return category
    throw invalidInput(
      'retry.onlyCategories',
      `retry.onlyCategories has ${show(category)}, but a category is a text of 1 to ${CATEGORY_LENGTH_MAX} characters.`,
    )
  })
}
