import { expect, test } from 'vitest'
import { ATTEMPTS_MAX, RETRY_DELAY_MAX_MS } from '../../kernel/index.ts'
import { parseRetry } from './retry.ts'
import type { RetryOptions } from './retry.ts'

test('without a policy there is one attempt', () => {
  expect(parseRetry(undefined)).toMatchObject({ attempts: 1 })
})

test('a policy that names only its attempts waits ever longer, with jitter', () => {
  expect(parseRetry({ attempts: 5 })).toEqual({
    attempts: 5,
    backoff: { kind: 'exponential', initialMs: 1_000, maxMs: 60_000, factor: 2 },
    jitter: true,
    onlyCategories: [],
  })
})

test('a backoff is a word or an object of its kind', () => {
  expect(parseRetry({ attempts: 2, backoff: 'fixed' }).backoff).toEqual({ kind: 'fixed', delayMs: 1_000 })
  expect(parseRetry({ attempts: 2, backoff: { kind: 'fixed', delay: '5s' } }).backoff).toEqual({
    kind: 'fixed',
    delayMs: 5_000,
  })
  expect(
    parseRetry({ attempts: 2, backoff: { kind: 'exponential', initial: '2s', max: '1h', factor: 3 } }).backoff,
  ).toEqual({
    kind: 'exponential',
    initialMs: 2_000,
    maxMs: 3_600_000,
    factor: 3,
  })
})

test('no wait is longer than a day, and none is cut below where it begins', () => {
  expect(parseRetry({ attempts: 2, backoff: { kind: 'fixed', delay: '9d' } }).backoff).toMatchObject({
    delayMs: RETRY_DELAY_MAX_MS,
  })
  expect(parseRetry({ attempts: 2, backoff: { kind: 'exponential', initial: '10m' } }).backoff).toMatchObject({
    maxMs: 600_000,
  })
})

test.each<[string, unknown]>([
  ['retry.attempts', { attempts: 0 }],
  ['retry.attempts', { attempts: 1.5 }],
  ['retry.attempts', { attempts: ATTEMPTS_MAX + 1 }],
  ['retry.attempts', {}],
  ['retry.backoff', { attempts: 2, backoff: 'linear' }],
  ['retry.backoff', { attempts: 2, backoff: { kind: 'linear' } }],
  ['retry.backoff.delay', { attempts: 2, backoff: { kind: 'fixed', delay: 'soon' } }],
  ['retry.backoff.factor', { attempts: 2, backoff: { kind: 'exponential', factor: 0.5 } }],
  ['retry.backoff.factor', { attempts: 2, backoff: { kind: 'exponential', factor: Number.NaN } }],
  ['retry.jitter', { attempts: 2, jitter: 'yes' }],
  ['retry.onlyCategories', { attempts: 2, onlyCategories: 'timeout' }],
  ['retry.onlyCategories', { attempts: 2, onlyCategories: [''] }],
])('%s is refused by name in %j', (field, options) => {
  expect(() => parseRetry(options as RetryOptions)).toThrow(
    expect.objectContaining({ code: 'invalid_input', detail: expect.objectContaining({ field }) as unknown }) as Error,
  )
})
