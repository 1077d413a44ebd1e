import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { RETRY_DELAY_MAX_MS } from '../limits.ts'
import type { Backoff, Execution, RetryPolicy } from '../model/records.ts'
import { backoffMs, mayRetry, retryDelayMs } from './retry-policy.ts'
import { fractionOf } from './seeded-random.ts'
import { unpackRecord } from '../model/schema.ts'

function failing(failureCount: number, retry: Partial<RetryPolicy>): Execution {
  const policy: RetryPolicy = {
    attempts: 3,
    backoff: { kind: 'fixed', delayMs: 1_000 },
    jitter: false,
    onlyCategories: [],
  }
  return { ...unpackRecord('execution', []), failureCount, retry: { ...policy, ...retry } }
}

const exponential = { kind: 'exponential' as const, initialMs: 1_000, maxMs: 60_000, factor: 2 }

describe('whether another attempt follows', () => {
  test.each([
    { attempts: 1, failureCount: 0, follows: false },
    { attempts: 2, failureCount: 0, follows: true },
    { attempts: 2, failureCount: 1, follows: false },
    { attempts: 5, failureCount: 3, follows: true },
    { attempts: 5, failureCount: 4, follows: false },
  ])('of $attempts attempts, after $failureCount failures before this one: $follows', ({ follows, ...given }) => {
    expect(mayRetry(failing(given.failureCount, { attempts: given.attempts }), 'error')).toBe(follows)
  })

  test.each(['permanent', 'cancelled'])('a failure of category %s is final whatever the policy says', (category) => {
    expect(mayRetry(failing(0, { attempts: 100, onlyCategories: [category] }), category)).toBe(false)
  })

  test('with categories named, a failure of any other is final', () => {
    const execution = failing(0, { onlyCategories: ['rate', 'timeout'] })

    expect([mayRetry(execution, 'rate'), mayRetry(execution, 'timeout'), mayRetry(execution, 'error')]).toEqual([
      true,
      true,
      false,
    ])
  })
})

describe('the wait before the next attempt', () => {
  test.each<{ backoff: Backoff; waits: number[] }>([
    { backoff: { kind: 'fixed', delayMs: 250 }, waits: [250, 250, 250, 250] },
    { backoff: exponential, waits: [1_000, 2_000, 4_000, 8_000] },
    { backoff: { ...exponential, factor: 1.5 }, waits: [1_000, 1_500, 2_250, 3_375] },
    { backoff: { ...exponential, initialMs: 7, factor: 1.5 }, waits: [7, 10, 15, 23] },
    { backoff: { ...exponential, maxMs: 3_000 }, waits: [1_000, 2_000, 3_000, 3_000] },
    { backoff: { ...exponential, factor: 1 }, waits: [1_000, 1_000, 1_000, 1_000] },
  ])('grows by the policy: $waits', ({ backoff, waits }) => {
    expect([1, 2, 3, 4].map((failureCount) => backoffMs(backoff, failureCount))).toEqual(waits)
  })

  test('is never more than a day, however often the attempt failed', () => {
    const steep: Backoff = { kind: 'exponential', initialMs: 1_000, maxMs: Number.MAX_SAFE_INTEGER, factor: 1_000 }

    expect(backoffMs(steep, 1_000)).toBe(RETRY_DELAY_MAX_MS)
    expect(backoffMs({ kind: 'fixed', delayMs: RETRY_DELAY_MAX_MS + 1 }, 1)).toBe(RETRY_DELAY_MAX_MS)
  })

  test('with jitter is a whole number below the backoff, and depends on the seed alone', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 2_147_483_646 }), fc.nat(12), (seed, failureCount) => {
        const execution = failing(failureCount, { backoff: exponential, jitter: true })
        const wait = retryDelayMs(execution, undefined, fractionOf(seed))

        expect(Number.isInteger(wait)).toBe(true)
        expect(wait).toBeGreaterThanOrEqual(0)
        expect(wait).toBeLessThan(backoffMs(exponential, failureCount + 1))
        expect(retryDelayMs(execution, undefined, fractionOf(seed))).toBe(wait)
      }),
    )
  })

  test('with jitter spreads over the whole backoff', () => {
    const execution = failing(0, { backoff: { kind: 'fixed', delayMs: 1_000 }, jitter: true })
    const waits = Array.from({ length: 1_000 }, (_, i) =>
      retryDelayMs(execution, undefined, fractionOf(1 + i * 2_147_483)),
    )
    const quarters = [0, 1, 2, 3].map((quarter) => waits.filter((wait) => Math.floor(wait / 250) === quarter).length)

    for (const count of quarters) expect(count).toBeGreaterThan(150)
  })

  test('that the failure asked for wins over backoff and jitter, up to a day', () => {
    const execution = failing(3, { backoff: exponential, jitter: true })

    expect(retryDelayMs(execution, 0, 0.7)).toBe(0)
    expect(retryDelayMs(execution, 90_000, 0.7)).toBe(90_000)
    expect(retryDelayMs(execution, RETRY_DELAY_MAX_MS * 2, 0.7)).toBe(RETRY_DELAY_MAX_MS)
  })
})

test('the wait after each further failure is the next of the backoff, and a part of it with jitter', () => {
  const waits = [0, 1, 2].map((count) => retryDelayMs(failing(count, { backoff: exponential }), undefined, 0.7))
  expect(waits).toEqual([1_000, 2_000, 4_000])

  const fixed = { kind: 'fixed' as const, delayMs: 5 }
  expect(retryDelayMs(failing(0, { backoff: fixed, jitter: true }), undefined, 0.5)).toBe(2)
})
