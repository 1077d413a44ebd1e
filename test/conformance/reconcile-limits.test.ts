import { describe, expect, test } from 'vitest'
import { DELETED_LIMIT_MS, LIMIT_OVERDUE_MS } from '../../src/kernel/index.ts'
import type { Gauge, Holding, LimitCursor, LimitProblem } from '../../src/kernel/index.ts'
import { GivenLimits, LIMIT, PARTITION, TTL_MS } from './given-limits.ts'
import { conforms } from './harness.ts'

conforms('reconcileLimits', ({ fabric, clock }) => {
  const limits = new GivenLimits(fabric)

  /** Walks over the whole partition. */
  const reconcile = async (skip: readonly string[] = []): Promise<LimitProblem[]> => {
    const repaired: LimitProblem[] = []
    let cursor: LimitCursor | undefined
    for (let steps = 0; steps < 50; steps++) {
      const page = await limits.run('reconcileLimits', { cursor, skip })
      repaired.push(...page.repaired)
      if (page.cursor === undefined) return repaired
      cursor = page.cursor
    }
    throw new Error('the walk does not end')
  }

  const gauge = async (): Promise<Gauge> => (await limits.dump()).records.find((record) => record.type === 'gauge')!
  const holding = async (): Promise<Holding> =>
    (await limits.dump()).records.find((record) => record.type === 'holding')!

  test('finds nothing where nothing is wrong, and writes nothing', async () => {
    await limits.limit({ concurrency: 9, rate: { count: 9, windowMs: 1_000 } })
    await limits.take(2)
    await limits.take(3, { key: 'acme' }, { process: 'p2' })
    const before = await limits.dump()

    expect(await reconcile()).toEqual([])
    expect(await limits.dump()).toEqual(before)
  })

  describe('corrects', () => {
    test.each([
      ['a sum that is too high', { heldCount: 7 }],
      ['a sum that is too low', { heldCount: 0 }],
      ['a wrong number of holders', { holderCount: 5 }],
    ])('%s', async (_, drift) => {
      await limits.limit({ concurrency: 9 })
      await limits.take(2)
      await limits.take(1, {}, { process: 'p2' })
      const right = await gauge()
      await fabric.plant({ ...right, ...drift }, PARTITION)

      expect(await reconcile()).toEqual([{ problem: 'wrong_count', limit: LIMIT, key: '' }])
      expect(await gauge()).toEqual(right)
      expect(await reconcile()).toEqual([])
    })

    test('permits of a dead process that no due pass took back', async () => {
      await limits.limit({ concurrency: 2 })
      await limits.take(2)
      clock.advance(TTL_MS + LIMIT_OVERDUE_MS - 1)
      expect(await reconcile()).toEqual([])
      clock.advance(1)

      expect(await reconcile()).toEqual([{ problem: 'lapsed_holding', limit: LIMIT, key: '' }])
      expect(await limits.take(2, {}, { process: 'p2' })).toMatchObject({ granted: 2 })
    })

    test('a window in which nothing counts any more', async () => {
      await limits.limit({ rate: { count: 5, windowMs: 1_000 } })
      await limits.take(1, {}, { ttlMs: 10 * LIMIT_OVERDUE_MS })
      clock.advance(1_000 + LIMIT_OVERDUE_MS)

      expect(await reconcile()).toEqual([{ problem: 'stale_window', limit: LIMIT, key: '' }])
      expect((await gauge()).window).toEqual([])
    })
  })

  test('removes the keys of a deleted limit, and its name after a while', async () => {
    await limits.limit({ concurrency: 5 })
    for (const key of ['a', 'b']) await limits.take(1, { key })
    await limits.run('deleteLimit', { name: LIMIT })

    expect((await reconcile()).map(({ problem, key }) => [problem, key])).toEqual([
      ['deleted_limit', 'a'],
      ['deleted_limit', 'b'],
    ])
    expect((await limits.dump()).records.map(({ type }) => type)).toEqual(['limit_definition'])
    clock.advance(DELETED_LIMIT_MS - 1)
    await reconcile()
    expect((await limits.dump()).records).toHaveLength(1)
    clock.advance(1)
    await reconcile()
    expect((await limits.dump()).records).toEqual([])
  })

  test('leaves a key alone of which a holding cannot be read', async () => {
    await limits.limit({ concurrency: 9 })
    await limits.take(2)
    const right = await gauge()
    await fabric.plant({ ...right, heldCount: 7 }, PARTITION)

    expect(await reconcile([(await holding()).id])).toEqual([])
    expect((await gauge()).heldCount).toBe(7)
    await fabric.plant(right, PARTITION)
  })

  test('walks over many keys in several steps', async () => {
    await limits.limit({ concurrency: 9 })
    for (let i = 0; i < 45; i++) await limits.take(1, { key: `k${i}` })
    for (const record of (await limits.dump()).records) {
      if (record.type === 'gauge') await fabric.plant({ ...record, heldCount: 3 }, PARTITION)
    }

    expect(await reconcile()).toHaveLength(45)
    expect(await reconcile()).toEqual([])
  })

  test('a correction does not undo an admission that happens at the same time', async () => {
    await limits.limit({ concurrency: 9 })
    await limits.take(2)
    await fabric.plant({ ...(await gauge()), heldCount: 5 }, PARTITION)

    await Promise.all([limits.run('reconcileLimits', {}), limits.take(1, {}, { process: 'p2' }), limits.giveBack(1)])
    await reconcile()

    expect(await limits.heldOf()).toBe(2)
  })
})
