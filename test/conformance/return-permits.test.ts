import { describe, expect, test } from 'vitest'
import { GivenLimits, LIMIT, TTL_MS } from './given-limits.ts'
import { conforms } from './harness.ts'

const WINDOW_MS = 1_000

conforms('returnPermits', ({ fabric, clock }) => {
  const limits = new GivenLimits(fabric)

  test('makes room for others', async () => {
    await limits.limit({ concurrency: 2 })
    await limits.take(2)

    expect(await limits.giveBack(1)).toEqual({ limit: LIMIT, key: '', returned: 1, left: 1, wakes: [] })
    expect(await limits.take(2, {}, { process: 'p2' })).toMatchObject({ granted: 1 })
  })

  test.each([
    ['a second time with the same request', { requestId: 'r' }],
    ['as another process', { process: 'p2' }],
  ])('%s changes nothing', async (_, by) => {
    await limits.limit({ concurrency: 3 })
    await limits.take(3)
    await limits.giveBack(1, {}, { requestId: 'r' })
    const before = await limits.dump()

    expect(await limits.giveBack(1, {}, by)).toMatchObject({ returned: 0, wakes: [] })
    expect(await limits.dump()).toEqual(before)
  })

  test('repeated after everything was returned does not take back what was taken since', async () => {
    await limits.limit({ concurrency: 2 })
    await limits.take(1)
    await limits.giveBack(1, {}, { requestId: 'r' })
    await limits.take(2)

    expect(await limits.giveBack(1, {}, { requestId: 'r' })).toMatchObject({ returned: 0, left: 2 })
    expect(await limits.heldOf()).toBe(2)
  })

  test('returns no more than the process holds', async () => {
    await limits.limit({ concurrency: 5 })
    await limits.take(2)
    await limits.take(2, {}, { process: 'p2' })

    expect(await limits.giveBack(4)).toMatchObject({ returned: 2, left: 0 })
    expect(await limits.heldOf()).toBe(2)
  })

  test('of permits that were never taken changes nothing', async () => {
    await limits.limit({ concurrency: 2 })
    const before = await limits.dump()

    expect(await limits.giveBack(1)).toMatchObject({ returned: 0 })
    expect(await limits.dump()).toEqual(before)
  })

  test('after they lapsed changes nothing', async () => {
    await limits.limit({ concurrency: 2 })
    await limits.take(2)
    clock.advance(TTL_MS)
    const before = await limits.dump()

    expect(await limits.giveBack(1)).toMatchObject({ returned: 0, left: 0 })
    expect(await limits.dump()).toEqual(before)
  })

  test('keeps what was started in the window, and takes back what was not used', async () => {
    await limits.limit({ rate: { count: 10, windowMs: WINDOW_MS } })
    const { takenAt } = await limits.take(5, { weight: 2 })
    clock.advance(10)

    await limits.giveBack(5, { unused: { count: 2, weight: 2, takenAt } })

    expect(await limits.take(9)).toMatchObject({ granted: 4 })
  })

  describe('with work that waits', () => {
    test('names the partition that waits, with the permits that are free, and no longer counts it', async () => {
      await limits.limit({ concurrency: 2 })
      await limits.take(2)
      await limits.take(1, { waitingIn: 3 }, { process: 'p2' })

      expect((await limits.giveBack(2)).wakes).toEqual([{ partition: 3, permits: 2 }])
      await limits.take(1)
      expect((await limits.giveBack(1)).wakes).toEqual([])
    })

    test('divides the room, and names those that got none next', async () => {
      await limits.limit({ concurrency: 3 })
      await limits.take(3)
      for (const waitingIn of [0, 1, 2]) await limits.take(1, { waitingIn })

      expect((await limits.giveBack(2)).wakes).toEqual([
        { partition: 0, permits: 1 },
        { partition: 1, permits: 1 },
      ])
      expect((await limits.giveBack(1)).wakes).toEqual([{ partition: 2, permits: 3 }])
    })

    test('a process that got its permits may add that more waits behind it', async () => {
      await limits.limit({ concurrency: 1 })
      await limits.take(1, { waitingIn: 7 })

      expect((await limits.giveBack(1)).wakes).toEqual([{ partition: 7, permits: 1 }])
    })

    test('names no partition while the key is held back', async () => {
      await limits.limit({ concurrency: 1 })
      await limits.take(1)
      await limits.take(1, { waitingIn: 3 })
      await limits.run('holdLimit', { limit: LIMIT, key: '', retryAfterMs: 500 })

      expect((await limits.giveBack(1)).wakes).toEqual([])
    })
  })
})
