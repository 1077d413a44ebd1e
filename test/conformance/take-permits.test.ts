import { describe, expect, test } from 'vitest'
import { PERMIT_REQUEST_MAX, WINDOW_ENTRY_MAX } from '../../src/kernel/index.ts'
import { GivenLimits, LIMIT, TTL_MS } from './given-limits.ts'
import { conforms } from './harness.ts'

const WINDOW_MS = 1_000

conforms('takePermits', ({ fabric, clock }) => {
  const limits = new GivenLimits(fabric)

  test('grants as many as the cap leaves, and returns why not more', async () => {
    await limits.limit({ concurrency: 3 })

    expect(await limits.take(2)).toMatchObject({ granted: 2, refusal: undefined, isCounted: true })
    expect(await limits.take(2, {}, { process: 'p2' })).toMatchObject({
      granted: 1,
      refusal: { cause: 'concurrency', retryAfterMs: undefined },
      next: undefined,
    })
    expect(await limits.heldOf()).toBe(3)
  })

  test('grants as much weight as the window leaves, and returns when the next fits', async () => {
    await limits.limit({ rate: { count: 10, windowMs: WINDOW_MS } })
    await limits.take(1, { weight: 4 })
    clock.advance(300)
    await limits.take(1, { weight: 4 })

    expect(await limits.take(1, { weight: 4 })).toMatchObject({
      granted: 0,
      refusal: { cause: 'rate', retryAfterMs: 700 },
      next: { afterMs: 700, permits: 1 },
    })
    clock.advance(699)
    expect(await limits.take(1, { weight: 4 })).toMatchObject({ granted: 0 })
    clock.advance(1)
    expect(await limits.take(1, { weight: 4 })).toMatchObject({ granted: 1 })
  })

  test('decides by the rate before the cap', async () => {
    await limits.limit({ rate: { count: 1, windowMs: WINDOW_MS }, concurrency: 1 })
    await limits.take(1)

    expect((await limits.take(1)).refusal).toMatchObject({ cause: 'rate' })
    clock.advance(WINDOW_MS)
    expect((await limits.take(1)).refusal).toMatchObject({ cause: 'concurrency' })
  })

  test('counts each key alone', async () => {
    await limits.limit({ concurrency: 1 })

    expect(await limits.take(1, { key: 'acme' })).toMatchObject({ granted: 1 })
    expect(await limits.take(1, { key: 'other' })).toMatchObject({ granted: 1 })
    expect(await limits.take(1, { key: 'acme' })).toMatchObject({ granted: 0 })
  })

  test('is idempotent per request id, also when only a part was granted', async () => {
    await limits.limit({ rate: { count: 10, windowMs: WINDOW_MS }, concurrency: 3 })
    const first = await limits.take(4, {}, { requestId: 'r' })
    const before = await limits.dump()

    expect(await limits.take(4, {}, { requestId: 'r' })).toEqual(first)
    expect(await limits.dump()).toEqual(before)
  })

  test('a refused request leaves no trace', async () => {
    await limits.limit({ concurrency: 1 })
    await limits.take(1)
    const before = await limits.dump()

    await limits.take(1, {}, { process: 'p2' })

    expect(await limits.dump()).toEqual(before)
  })

  test('gives a share of what is left as spare permits', async () => {
    await limits.limit({ concurrency: 18 })

    expect(await limits.take(2, { spare: 100 })).toMatchObject({ granted: 4 })
    expect(await limits.take(0, { spare: 1 }, { process: 'p2' })).toMatchObject({ granted: 1 })
  })

  test('an unlimited key gives all that are asked for', async () => {
    await limits.limit({})

    expect(await limits.take(2, { spare: 3 })).toMatchObject({ granted: 5, refusal: undefined })
  })

  test('work that weighs more than the whole limit is admitted alone', async () => {
    await limits.limit({ rate: { count: 10, windowMs: WINDOW_MS } })
    await limits.take(1)

    expect(await limits.take(1, { weight: 50 })).toMatchObject({ granted: 0, refusal: { retryAfterMs: WINDOW_MS } })
    clock.advance(WINDOW_MS)
    expect(await limits.take(1, { weight: 50 })).toMatchObject({ granted: 1 })
    expect(await limits.take(1)).toMatchObject({ granted: 0 })
  })

  test('an unknown limit admits nothing', async () => {
    expect(await limits.take(1)).toMatchObject({ granted: 0, refusal: { cause: 'unknown' }, isCounted: false })
  })

  test('a deleted limit limits nothing', async () => {
    await limits.limit({ concurrency: 1 })
    await limits.run('deleteLimit', { name: LIMIT })

    expect(await limits.take(5)).toMatchObject({ granted: 5, refusal: undefined, isCounted: false })
  })

  test('permits of a process that died are free after their time, without an engine', async () => {
    await limits.limit({ concurrency: 2 })
    await limits.take(2, {}, { process: 'dead' })

    clock.advance(TTL_MS - 1)
    expect(await limits.take(1)).toMatchObject({ granted: 0 })
    clock.advance(1)
    expect(await limits.take(1)).toMatchObject({ granted: 1 })
    expect(await limits.heldOf()).toBe(1)
  })

  test('a process whose permits lapsed begins anew', async () => {
    await limits.limit({ concurrency: 2 })
    await limits.take(2)
    clock.advance(TTL_MS)

    expect(await limits.take(1)).toMatchObject({ granted: 1 })
    expect(await limits.heldOf()).toBe(1)
  })

  test('a cap that was lowered grants nothing until enough is returned', async () => {
    await limits.limit({ concurrency: 3 })
    await limits.take(3)
    await limits.limit({ concurrency: 1 })

    await limits.giveBack(2)
    expect(await limits.take(1)).toMatchObject({ granted: 0 })
    await limits.giveBack(1)
    expect(await limits.take(1)).toMatchObject({ granted: 1 })
  })

  test('a window with many admissions stays bounded and never admits too much', async () => {
    await limits.limit({ rate: { count: 200, windowMs: WINDOW_MS } })
    let granted = 0
    for (let i = 0; i < 250; i++) {
      clock.advance(3)
      granted += (await limits.take(1)).granted
    }

    expect(granted).toBe(200)
    const gauge = (await limits.dump()).records.find((record) => record.type === 'gauge')!
    expect(gauge.window.length).toBeLessThanOrEqual(WINDOW_ENTRY_MAX)
  })

  describe('a call with several requests', () => {
    test('decides them in order', async () => {
      await limits.limit({ concurrency: 3 })
      const request = { limit: LIMIT, key: '', weight: 1, needed: 2, spare: 0 }

      const { answers } = await limits.run('takePermits', {
        requestId: 'r',
        workerInstanceId: 'p1',
        ttlMs: TTL_MS,
        requests: [request, { ...request, key: 'acme' }, request],
      })

      expect(answers.map(({ granted }) => granted)).toEqual([2, 2, 1])
    })

    test('is bounded', async () => {
      await limits.limit({})
      const request = { limit: LIMIT, key: '', weight: 1, needed: 1, spare: 0 }

      const { answers } = await limits.run('takePermits', {
        requestId: 'r',
        workerInstanceId: 'p1',
        ttlMs: TTL_MS,
        requests: Array.from({ length: PERMIT_REQUEST_MAX + 1 }, (_, i) => ({ ...request, key: String(i) })),
      })

      expect(answers).toHaveLength(PERMIT_REQUEST_MAX)
    })
  })

  test('processes that race for the last permit get it once', async () => {
    await limits.limit({ concurrency: 5 })

    const answers = await Promise.all(Array.from({ length: 12 }, (_, i) => limits.take(1, {}, { process: `p${i}` })))

    expect(answers.reduce((sum, { granted }) => sum + granted, 0)).toBe(5)
    expect(await limits.heldOf()).toBe(5)
  })
})
