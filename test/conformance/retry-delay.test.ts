import { expect, test } from 'vitest'
import { RETRY_DELAY_MAX_MS } from '../../src/kernel/index.ts'
import type { RetryPolicy } from '../../src/kernel/index.ts'
import { fixedRetry, transientFailure } from './given.ts'
import type { Bench } from './harness.ts'
import { conforms } from './harness.ts'

const exponential: RetryPolicy = {
  attempts: 8,
  backoff: { kind: 'exponential', initialMs: 1_000, maxMs: 20_000, factor: 2 },
  jitter: false,
  onlyCategories: [],
}

/** Fails every attempt of one execution. Returns how long each wait was, without the last failure. */
async function waits(bench: Bench, retry: RetryPolicy, failures: number, change: object = {}): Promise<number[]> {
  const { fabric, given, clock } = bench
  const submitted = await given.eligibleExecution({ retry })
  const found: number[] = []
  for (let i = 0; i < failures; i++) {
    const held = await given.claimOf(submitted)
    const result = await fabric.run('failExecution', { ...held, ...transientFailure, ...change })
    if (result.kind !== 'retry_scheduled') throw new Error(`the attempt was to be retried, not ${result.kind}`)
    found.push(result.retryAt - clock.now())
    clock.advanceTo(result.retryAt)
  }
  await fabric.run('cancelExecution', { ...submitted, reason: 'done', by: 'test', force: true, graceMs: 0 })
  return found
}

conforms('the wait before a retry', (bench) => {
  test('a fixed backoff waits the same each time', async () => {
    expect(await waits(bench, fixedRetry(5, 700), 4)).toEqual([700, 700, 700, 700])
  })

  test('an exponential backoff grows by its factor up to its limit', async () => {
    expect(await waits(bench, exponential, 7)).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 20_000, 20_000])
  })

  test('is a whole number of milliseconds, whatever the factor', async () => {
    const backoff = { kind: 'exponential', initialMs: 100, maxMs: 10_000, factor: 1.5 } as const

    expect(await waits(bench, { ...exponential, backoff }, 4)).toEqual([100, 150, 225, 337])
  })

  test('never exceeds a day', async () => {
    const backoff = { kind: 'exponential', initialMs: 1_000, maxMs: 10 * RETRY_DELAY_MAX_MS, factor: 1e9 } as const

    expect(await waits(bench, fixedRetry(2, 10 * RETRY_DELAY_MAX_MS), 1)).toEqual([RETRY_DELAY_MAX_MS])
    expect(await waits(bench, { ...exponential, backoff }, 3)).toEqual([1_000, RETRY_DELAY_MAX_MS, RETRY_DELAY_MAX_MS])
  })

  test('with jitter lies between nothing and the full wait, and depends on the seed alone', async () => {
    const retry = { ...fixedRetry(2, 10_000), jitter: true }
    const found: number[] = []
    for (let seed = 1; seed <= 40; seed++) found.push(...(await waits(bench, retry, 1, { seed })))
    const again = await waits(bench, retry, 1, { seed: 1 })

    expect(found.every((wait) => Number.isInteger(wait) && wait >= 0 && wait < 10_000)).toBe(true)
    expect(new Set(found).size).toBeGreaterThan(30)
    expect(Math.min(...found)).toBeLessThan(2_500)
    expect(Math.max(...found)).toBeGreaterThan(7_500)
    expect(again[0]).toBe(found[0])
  })

  test('that the failure asks for wins over the policy, jitter included, up to a day', async () => {
    const retry = { ...exponential, jitter: true }

    expect(await waits(bench, retry, 2, { retryAfterMs: 12_345 })).toEqual([12_345, 12_345])
    expect(await waits(bench, retry, 1, { retryAfterMs: 0 })).toEqual([0])
    expect(await waits(bench, retry, 1, { retryAfterMs: 3 * RETRY_DELAY_MAX_MS })).toEqual([RETRY_DELAY_MAX_MS])
  })

  test('starts over after a replay', async () => {
    const { fabric, given, clock } = bench
    const submitted = await given.eligibleExecution({ retry: { ...exponential, attempts: 3 } })
    const found: number[] = []
    for (let run = 0; run < 2; run++) {
      for (let attempt = 0; attempt < 3; attempt++) {
        const held = await given.claimOf(submitted)
        const result = await fabric.run('failExecution', { ...held, ...transientFailure })
        if (result.kind !== 'retry_scheduled') break
        found.push(result.retryAt - clock.now())
        clock.advanceTo(result.retryAt)
      }
      await fabric.run('replayExecution', { ...submitted, requestId: given.requestId() })
    }

    expect(found).toEqual([1_000, 2_000, 1_000, 2_000])
  })
})
