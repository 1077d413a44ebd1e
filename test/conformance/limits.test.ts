import { describe, expect, test } from 'vitest'
import { LIMIT_HOLD_MAX_MS, LIMIT_WAKE_COUNT } from '../../src/kernel/index.ts'
import type { WakeCursor } from '../../src/kernel/index.ts'
import { GivenLimits, LIMIT, TTL_MS } from './given-limits.ts'
import { conforms } from './harness.ts'

const WINDOW_MS = 1_000

conforms('defineLimit', ({ fabric, clock }) => {
  const limits = new GivenLimits(fabric)

  test('creates a limit, changes it, and knows when there is nothing to change', async () => {
    const rate = { count: 5, windowMs: WINDOW_MS }
    const define = (concurrency: number) => limits.run('defineLimit', { name: LIMIT, rate, concurrency, by: 'ops' })

    expect(await define(2)).toEqual({ kind: 'limit_defined', version: 1 })
    expect(await define(2)).toEqual({ kind: 'already_satisfied', version: 1 })
    clock.advance(5)
    expect(await define(3)).toEqual({ kind: 'limit_changed', version: 2 })
    expect(await limits.run('listLimits', { limit: 10 })).toMatchObject({
      limits: [{ id: LIMIT, rate, concurrency: 3, version: 2, changedAt: clock.now(), changedBy: 'ops' }],
      cursor: undefined,
    })
  })

  test('a change applies to the next admission', async () => {
    await limits.limit({ concurrency: 1 })
    await limits.take(1)
    await limits.limit({ concurrency: 2 })

    expect(await limits.take(2)).toMatchObject({ granted: 1 })
  })

  test('defines a deleted limit again', async () => {
    await limits.limit({ concurrency: 1 })
    await limits.run('deleteLimit', { name: LIMIT })

    expect(await limits.run('defineLimit', { name: LIMIT, concurrency: 1 })).toEqual({
      kind: 'limit_changed',
      version: 3,
    })
    expect(await limits.take(2)).toMatchObject({ granted: 1 })
  })
})

conforms('deleteLimit', ({ fabric }) => {
  const limits = new GivenLimits(fabric)

  test('deletes once, and the limit is in no list', async () => {
    await limits.limit()

    expect(await limits.run('deleteLimit', { name: LIMIT })).toEqual({ kind: 'limit_deleted' })
    expect(await limits.run('deleteLimit', { name: LIMIT })).toEqual({ kind: 'limit_already_deleted' })
    expect(await limits.run('listLimits', { limit: 10 })).toMatchObject({ limits: [] })
    expect(await limits.run('describeLimit', { name: LIMIT, limit: 10 })).toMatchObject({ code: 'limit_not_found' })
  })

  test('refuses a limit that never was', async () => {
    expect(await limits.run('deleteLimit', { name: LIMIT })).toMatchObject({ kind: 'refused', code: 'limit_not_found' })
  })
})

conforms('describeLimit', ({ fabric, clock }) => {
  const limits = new GivenLimits(fabric)

  test('shows the busiest keys first, page by page', async () => {
    await limits.limit({ concurrency: 100 })
    for (const [key, count] of [
      ['a', 1],
      ['b', 20],
      ['c', 5],
    ] as const)
      await limits.take(count, { key })

    const first = await limits.run('describeLimit', { name: LIMIT, limit: 2 })
    if (first.kind === 'refused') throw new Error('the limit exists')
    const second = await limits.run('describeLimit', { name: LIMIT, limit: 2, cursor: first.cursor })

    expect(first.keys.map(({ key, held }) => [key, held])).toEqual([
      ['b', 20],
      ['c', 5],
    ])
    expect(second).toMatchObject({ keys: [{ key: 'a', held: 1, holders: 1 }], cursor: undefined })
  })

  test('names the processes that hold permits of one key', async () => {
    await limits.limit({ concurrency: 9 })
    await limits.take(2, { key: 'acme' })
    await limits.take(3, { key: 'acme' }, { process: 'p2' })
    await limits.take(1, { key: 'acme' }, { process: 'p3' })
    await limits.giveBack(1, { key: 'acme' }, { process: 'p3' })

    expect(await limits.run('describeLimit', { name: LIMIT, key: 'acme', limit: 1 })).toMatchObject({
      holders: [
        { workerInstanceId: 'p1', count: 2, expiresAt: clock.now() + TTL_MS },
        { workerInstanceId: 'p2', count: 3 },
      ],
    })
    expect(await limits.run('describeLimit', { name: LIMIT, key: 'other', limit: 1 })).toMatchObject({ holders: [] })
  })

  test('shows how full a key is, and when it has room', async () => {
    await limits.limit({ rate: { count: 2, windowMs: WINDOW_MS } })
    await limits.take(2, { key: 'acme' })
    clock.advance(400)

    expect(await limits.run('describeLimit', { name: LIMIT, key: 'acme', limit: 1 })).toMatchObject({
      keys: [{ key: 'acme', used: 2, next: { afterMs: 600, permits: 2 } }],
    })
    clock.advance(600)
    expect(await limits.run('describeLimit', { name: LIMIT, key: 'acme', limit: 1 })).toMatchObject({
      keys: [{ used: 0, next: { afterMs: 0, permits: 2 } }],
    })
  })
})

conforms('listLimits', ({ fabric }) => {
  const limits = new GivenLimits(fabric)

  test('lists by name, page by page', async () => {
    for (const name of ['c', 'a', 'b']) await limits.run('defineLimit', { name, concurrency: 1 })

    const first = await limits.run('listLimits', { limit: 2 })
    const second = await limits.run('listLimits', { limit: 2, cursor: first.cursor })

    expect(first.limits.map(({ id }) => id)).toEqual(['a', 'b'])
    expect(second.limits.map(({ id }) => id)).toEqual(['c'])
    expect(second.cursor).toBeUndefined()
  })
})

conforms('renewPermits', ({ fabric, clock }) => {
  const limits = new GivenLimits(fabric)

  test('keeps permits beyond their first time', async () => {
    await limits.limit({ concurrency: 2 })
    await limits.take(2)
    clock.advance(TTL_MS - 1)
    expect(await limits.renew()).toBe(2)
    clock.advance(TTL_MS - 1)

    expect(await limits.take(1, {}, { process: 'p2' })).toMatchObject({ granted: 0 })
  })

  test('does not revive permits that lapsed', async () => {
    await limits.limit({ concurrency: 2 })
    await limits.take(2)
    clock.advance(TTL_MS)
    const before = await limits.dump()

    expect(await limits.renew()).toBe(0)
    expect(await limits.dump()).toEqual(before)
  })

  test('of nothing answers nothing', async () => {
    expect(await limits.renew('none')).toBe(0)
  })
})

conforms('holdLimit', ({ fabric, clock }) => {
  const limits = new GivenLimits(fabric)
  const hold = (retryAfterMs: number, key = '') => limits.run('holdLimit', { limit: LIMIT, key, retryAfterMs })

  describe('a key that is held back', () => {
    test('grants nothing to anyone until the time is over, and other keys do', async () => {
      await limits.limit({ concurrency: 9 })

      expect(await hold(500)).toEqual({ kind: 'limit_held', retryAfterMs: 500 })

      expect(await limits.take(1)).toMatchObject({ granted: 0, refusal: { cause: 'held', retryAfterMs: 500 } })
      expect(await limits.take(1, { key: 'other' })).toMatchObject({ granted: 1 })
      clock.advance(500)
      expect(await limits.take(1)).toMatchObject({ granted: 1 })
    })

    test('is not released early by a shorter hold', async () => {
      await limits.limit()
      await hold(500)

      expect(await hold(200)).toEqual({ kind: 'limit_already_held', retryAfterMs: 500 })
      expect(await hold(700)).toEqual({ kind: 'limit_held', retryAfterMs: 700 })
    })
  })

  test('is bounded', async () => {
    await limits.limit()

    expect(await hold(2 * LIMIT_HOLD_MAX_MS)).toMatchObject({ retryAfterMs: LIMIT_HOLD_MAX_MS })
  })

  test('refuses a limit that does not exist', async () => {
    expect(await hold(500)).toMatchObject({ kind: 'refused', code: 'limit_not_found' })
  })
})

conforms('liftHold', ({ fabric, clock }) => {
  const limits = new GivenLimits(fabric)
  const hold = () =>
    limits.run('holdLimit', { limit: LIMIT, key: '', retryAfterMs: 500, by: 'ada', reason: 'the provider is down' })
  const lift = () => limits.run('liftHold', { limit: LIMIT, key: '' })

  test('ends a hold before its time, and names the partitions whose work can go on', async () => {
    await limits.limit({ concurrency: 3 })
    await hold()
    await limits.take(1, { waitingIn: 3 })

    expect(await lift()).toEqual({ kind: 'hold_lifted', wakes: [{ partition: 3, permits: 3 }] })

    expect(await limits.take(2)).toMatchObject({ granted: 2 })
    expect(await lift()).toEqual({ kind: 'limit_not_held' })
  })

  test('changes nothing of a key that is not held, or not held any more', async () => {
    await limits.limit()
    expect(await lift()).toEqual({ kind: 'limit_not_held' })
    await hold()
    clock.advance(500)
    const before = await limits.dump()

    expect(await lift()).toEqual({ kind: 'limit_not_held' })
    expect(await limits.dump()).toEqual(before)
  })

  test('refuses a limit that does not exist', async () => {
    expect(await lift()).toMatchObject({ kind: 'refused', code: 'limit_not_found' })
  })

  test('a hold names who set it and why, until it is over', async () => {
    await limits.limit()
    await hold()
    const holdOf = async () => {
      const described = await limits.run('describeLimit', { name: LIMIT, key: '', limit: 1 })
      return described.kind === 'refused' ? undefined : described.keys[0]?.hold
    }

    expect(await holdOf()).toEqual({ until: clock.now() + 500, by: 'ada', reason: 'the provider is down' })
    clock.advance(500)
    expect(await holdOf()).toBeUndefined()
    await limits.take(1)
    expect((await limits.dump()).records.find(({ type }) => type === 'gauge')).toMatchObject({ heldBy: undefined })
  })
})

conforms('wakeWaiting', ({ fabric }) => {
  const limits = new GivenLimits(fabric)
  const wake = (cursor?: WakeCursor) => limits.run('wakeWaiting', { name: LIMIT, cursor })

  test('names the partitions that wait for a key which a change has given room, once', async () => {
    await limits.limit({ concurrency: 1 })
    await limits.take(1, { key: 'acme' })
    for (const waitingIn of [0, 5]) await limits.take(1, { key: 'acme', waitingIn })
    expect((await wake()).wakes).toEqual([])

    await limits.limit({ concurrency: 4 })

    expect((await wake()).wakes).toEqual([
      { key: 'acme', partition: 0, permits: 2 },
      { key: 'acme', partition: 5, permits: 1 },
    ])
    expect((await wake()).wakes).toEqual([])
  })

  test('lets everything pass that waits for a deleted limit', async () => {
    await limits.limit({ concurrency: 1 })
    await limits.take(1)
    await limits.take(1, { waitingIn: 2 })
    await limits.run('deleteLimit', { name: LIMIT })

    const { wakes } = await wake()

    expect(wakes).toMatchObject([{ key: '', partition: 2 }])
    expect(wakes[0]!.permits).toBeGreaterThan(1_000_000)
  })

  test('covers all keys, page by page', async () => {
    const keys = Array.from({ length: LIMIT_WAKE_COUNT + 3 }, (_, n) => `key-${n}`)
    await limits.limit({ concurrency: 1 })
    for (const key of keys) {
      await limits.take(1, { key })
      await limits.take(1, { key, waitingIn: 1 })
    }
    await limits.limit({ concurrency: 2 })

    const first = await wake()
    const second = await wake(first.cursor)

    expect([first.wakes.length, second.wakes.length]).toEqual([LIMIT_WAKE_COUNT, 3])
    expect(second.cursor).toBeUndefined()
    expect([...first.wakes, ...second.wakes].map(({ key }) => key).sort()).toEqual(keys.sort())
  })

  test('of a limit that does not exist names nothing', async () => {
    expect(await wake()).toEqual({ kind: 'waiting_woken', wakes: [], cursor: undefined })
  })
})

conforms('the timers of limits', ({ fabric, clock }) => {
  const limits = new GivenLimits(fabric)

  test('permits that were not renewed are taken back, and idle keys vanish', async () => {
    await limits.limit({ concurrency: 2, rate: { count: 9, windowMs: 2 * TTL_MS } })
    await limits.take(2)
    clock.advance(TTL_MS)

    expect((await limits.duePass()).handled).toEqual([
      { case: 'permit_expiry', executionId: expect.any(String) as string },
    ])
    expect(await limits.heldOf()).toBe(0)
    clock.advance(TTL_MS - 1)
    expect((await limits.duePass()).handled).toEqual([])
    clock.advance(1)
    expect((await limits.duePass()).handled).toMatchObject([{ case: 'gauge_idle' }])
    expect((await limits.dump()).records.map(({ type }) => type)).toEqual(['limit_definition'])
  })

  test('permits that were renewed, and keys that count, are left alone', async () => {
    await limits.limit({ concurrency: 2 })
    await limits.take(2)
    clock.advance(TTL_MS - 1)
    await limits.renew()
    clock.advance(1)

    expect((await limits.duePass()).handled).toEqual([])
    expect(await limits.heldOf()).toBe(2)
  })

  test('engines that race take permits back once', async () => {
    await limits.limit({ concurrency: 4 })
    await limits.take(2)
    await limits.take(2, {}, { process: 'p2', ttlMs: 2 * TTL_MS })
    clock.advance(TTL_MS)

    const [first, second] = await Promise.all([limits.duePass(), limits.duePass()])

    expect([...first.handled, ...second.handled]).toHaveLength(1)
    expect(await limits.heldOf()).toBe(2)
  })
})
