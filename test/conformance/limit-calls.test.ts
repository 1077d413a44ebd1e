/** Operators and programs define, change, inspect, hold and delete limits through the client, and blocked work follows. */
import { describe, expect, test } from 'vitest'
import type { LimitCalls } from '../../src/client/limits/limit-calls.ts'
import { LIMIT_HOLD_MAX_MS } from '../../src/kernel/index.ts'
import type { LimitCause } from '../../src/kernel/index.ts'
import { limitPartition } from '../../src/stores/partitions.ts'
import { heldOf } from './given.ts'
import type { Submitted } from './given.ts'
import { conforms } from './harness.ts'
import { Working } from './working.ts'

const LIMIT = 'openai'
const KEY = { limit: LIMIT, key: 'acme' }

conforms('the limits of a client', ({ fabric, given, clock }) => {
  const withLimits = async (use: (limits: LimitCalls, working: Working) => Promise<void>): Promise<void> => {
    await using working = new Working(fabric)
    await use(working.client.limits, working)
  }

  const inLimit = (permits: number, process = 'p1', waitingIn?: number) =>
    fabric.runIn(limitPartition(LIMIT, fabric.store.settings), 'takePermits', {
      requestId: fabric.runtime.uuid(),
      workerInstanceId: process,
      ttlMs: 33_000,
      requests: [{ ...KEY, weight: 1, needed: permits, spare: 0, waitingIn }],
    })

  /** Executions that wait for a permit: their worker asked for one and got none. */
  const blocked = async (
    count: number,
    cause: LimitCause = 'concurrency',
    retryAfterMs?: number,
  ): Promise<Submitted[]> => {
    const all: Submitted[] = []
    for (let i = 0; i < count; i++) {
      all.push(
        await given.eligibleExecution({ limits: [{ ...KEY, weight: 1, instead: undefined, budget: undefined }] }),
      )
      clock.advance(1)
    }
    const [first] = (await given.claim({ count: 1 })).executions
    await inLimit(1, 'p2', 0)
    await fabric.run('blockExecution', { ...heldOf(first!), ...KEY, cause, retryAfterMs })
    expect((await given.claim({ count: 10 })).executions).toEqual([])
    return all
  }

  test('define a limit, change it, and know when there is nothing to change', async () => {
    await withLimits(async (limits) => {
      expect(await limits.define(LIMIT, { perMinute: 400, concurrency: 50 }, { by: 'ada' })).toBe('defined')
      expect(await limits.define(LIMIT, { perMinute: 400, concurrency: 50 })).toBe('unchanged')
      expect(await limits.define(LIMIT, { rate: { count: 9, per: '15s' } }, { by: 'bob', reason: 'a trial' })).toBe(
        'changed',
      )

      expect(await limits.list()).toEqual([
        {
          name: LIMIT,
          rate: { count: 9, windowMs: 15_000 },
          concurrency: undefined,
          version: 2,
          createdAt: clock.now(),
          changedAt: clock.now(),
          changedBy: 'bob',
          reason: 'a trial',
        },
      ])
    })
  })

  test('list the limits of all partitions by name, without deleted ones', async () => {
    await withLimits(async (limits) => {
      const names = Array.from({ length: 12 }, (_, n) => `limit-${n}`).sort()
      for (const name of names) await limits.define(name, { concurrency: 1 })
      await limits.delete('limit-7')

      expect((await limits.list()).map(({ name }) => name)).toEqual(names.filter((name) => name !== 'limit-7'))
      expect(await limits.delete('limit-7')).toBe('already_deleted')
      await expect(limits.describe('limit-7')).rejects.toMatchObject({ code: 'limit_not_found' })
    })
  })

  test('describe the keys that are in use, page by page, and the workers that hold one', async () => {
    await withLimits(async (limits) => {
      await limits.define(LIMIT, { concurrency: 9 })
      await inLimit(3)
      await inLimit(2, 'p2')
      await fabric.runIn(limitPartition(LIMIT, fabric.store.settings), 'takePermits', {
        requestId: 'other',
        workerInstanceId: 'p1',
        ttlMs: 33_000,
        requests: [{ limit: LIMIT, key: 'other', weight: 1, needed: 1, spare: 0 }],
      })

      const first = await limits.describe(LIMIT, { limit: 1 })
      const second = await limits.describe(LIMIT, { limit: 1, cursor: first.cursor! })

      expect(first).toMatchObject({ name: LIMIT, keys: [{ key: 'acme', held: 5, holders: 2 }], holders: [] })
      expect(second.keys).toMatchObject([{ key: 'other', held: 1 }])
      expect(await limits.describe(LIMIT, { key: 'acme' })).toMatchObject({
        keys: [{ key: 'acme' }],
        holders: [
          { workerInstanceId: 'p1', count: 3 },
          { workerInstanceId: 'p2', count: 2 },
        ],
      })
      await expect(limits.describe(LIMIT, { cursor: 'l1.0' })).rejects.toMatchObject({ code: 'invalid_cursor' })
    })
  })

  describe('wake blocked work', () => {
    test('when a change makes room, as much as there is room', async () => {
      await withLimits(async (limits) => {
        await limits.define(LIMIT, { concurrency: 1 })
        await inLimit(1)
        const [first, second] = await blocked(3)

        await limits.define(LIMIT, { concurrency: 3 })

        expect(await given.readyOrder()).toEqual([first!.executionId, second!.executionId])
      })
    })

    test('when the limit is deleted, all of it', async () => {
      await withLimits(async (limits) => {
        await limits.define(LIMIT, { concurrency: 1 })
        await inLimit(1)
        await blocked(3)

        expect(await limits.delete(LIMIT, { by: 'ada' })).toBe('deleted')

        expect(await given.readyOrder()).toHaveLength(3)
      })
    })

    test('when a hold is lifted', async () => {
      await withLimits(async (limits) => {
        await limits.define(LIMIT, { concurrency: 2 })
        expect(await limits.hold(LIMIT, { key: 'acme', for: '5m' })).toEqual({ kind: 'held', forMs: 300_000 })
        expect(await limits.hold(LIMIT, { key: 'acme', for: '1m' })).toEqual({ kind: 'already_held', forMs: 300_000 })
        const [first, second] = await blocked(3, 'held', 300_000)

        expect(await limits.unhold(LIMIT, { key: 'acme' })).toBe('lifted')

        expect(await given.readyOrder()).toEqual([first!.executionId, second!.executionId])
        expect(await limits.unhold(LIMIT, { key: 'acme' })).toBe('not_held')
      })
    })
  })

  describe('why', () => {
    test('names the limit, its key, how full it is, who holds it, and who is ahead', async () => {
      await withLimits(async (limits, { client }) => {
        await limits.define(LIMIT, { perMinute: 400, concurrency: 1 })
        await inLimit(1)
        const [, second] = await blocked(2)

        const { text, explanation } = await client.why(second!.executionId)

        expect(explanation).toMatchObject({ why: 'blocked', by: 'limit', limit: { ...KEY, ahead: 1 } })
        expect(text).toContain("the limit 'openai' with the key 'acme'")
        expect(text).toContain('1 of 400 are used up in a window of 1 min, and 1 of 1 permits are held by 1 worker')
        expect(text).toContain('One execution is ahead of it')
      })
    })

    test('names the operator who holds it back', async () => {
      await withLimits(async (limits, { client }) => {
        await limits.define(LIMIT, { concurrency: 1 })
        await limits.hold(LIMIT, { key: 'acme', for: '5m', by: 'ada', reason: 'the provider is down' })
        const [first] = await blocked(1, 'held')

        const { text } = await client.why(first!.executionId)

        expect(text).toContain('ada holds it back until')
        expect(text).toContain('(the provider is down)')
      })
    })

    test('says that a limit does not exist', async () => {
      await withLimits(async (_, { client }) => {
        const [first] = await blocked(1, 'unknown')

        expect((await client.why(first!.executionId)).text).toContain('no limit of this name is defined')
      })
    })
  })

  test('show blocked work as rate-limited', async () => {
    await withLimits(async (limits, { client }) => {
      await limits.define(LIMIT, { concurrency: 1 })
      await inLimit(1)
      const [first] = await blocked(1)

      expect(await client.describe(first!.executionId)).toMatchObject({ state: 'rate_limited' })
      expect((await client.list({ state: 'rate_limited' })).items.map(({ id }) => id)).toEqual([first!.executionId])
      expect(await client.lanes()).toMatchObject([{ counts: { rate_limited: 1 } }])
    })
  })

  test('refuse what is no limit, and write nothing', async () => {
    await withLimits(async (limits) => {
      const misspelt = { perMinutes: 5 } as object
      await expect(limits.define(LIMIT, misspelt)).rejects.toThrow('Did you mean perMinute?')
      await expect(limits.define(LIMIT, {})).rejects.toThrow('neither a rate nor a concurrency')
      await expect(limits.define(LIMIT, { perSecond: 1, perHour: 5 })).rejects.toThrow('has 2 rates')
      await expect(limits.define(LIMIT, { concurrency: 0 })).rejects.toMatchObject({ code: 'invalid_input' })
      await expect(limits.define('', { concurrency: 1 })).rejects.toMatchObject({ code: 'invalid_input' })
      await expect(limits.hold(LIMIT, { for: LIMIT_HOLD_MAX_MS + 1 })).rejects.toThrow('a day')
      await expect(limits.hold(LIMIT, { for: '5m' })).rejects.toMatchObject({ code: 'limit_not_found' })
      await expect(limits.unhold(LIMIT)).rejects.toMatchObject({ code: 'limit_not_found' })
      await expect(limits.delete(LIMIT)).rejects.toMatchObject({ code: 'limit_not_found' })

      expect(await limits.list()).toEqual([])
    })
  })
})
