import { expect, test } from 'vitest'
import { RECONCILE_SCAN_COUNT } from '../../src/kernel/index.ts'
import type { IndexProblem, ReconcileCursor } from '../../src/kernel/index.ts'
import type { Bench } from './harness.ts'
import { conforms } from './harness.ts'

/** Walks the whole partition once. */
async function reconcile({ fabric }: Bench) {
  const repaired: IndexProblem[] = []
  const examined: number[] = []
  let cursor: ReconcileCursor | undefined
  do {
    const step = await fabric.run('reconcileIndexes', { cursor })
    repaired.push(...step.repaired)
    examined.push(step.examined)
    cursor = step.cursor
  } while (cursor !== undefined && examined.length < 500)
  return { repaired, examined }
}

conforms('reconcileIndexes', (bench) => {
  const { fabric, given } = bench

  test('of an empty partition ends at once', async () => {
    expect((await reconcile(bench)).repaired).toEqual([])
  })

  test('finds nothing to repair after lives of every kind, and writes nothing', async () => {
    for (const outcome of ['completed', 'failed', 'cancelled', 'expired'] as const) {
      await given.endedExecution(outcome, { tags: [{ name: 'team', value: outcome, indexed: true }] })
    }
    await given.activeExecution({ lane: 'second', class: 'one' })
    await given.delayedExecution({ lane: 'second', class: 'two', totalTimeoutMs: 90_000 })
    await given.executions(5)
    const before = await fabric.dump()

    const { repaired, examined } = await reconcile(bench)

    expect(repaired).toEqual([])
    expect(examined[0]).toBe(11)
    expect(await fabric.dump()).toEqual(before)
  })

  test('walks a large partition in bounded steps and reaches its end', async () => {
    const count = 2 * RECONCILE_SCAN_COUNT + 9
    await given.executions(count, (i) => ({ delayMs: i % 2 === 0 ? 60_000 : 0 }))

    const { repaired, examined } = await reconcile(bench)

    expect(repaired).toEqual([])
    expect(Math.max(...examined)).toBe(RECONCILE_SCAN_COUNT)
    // Each is looked at as a record, in the index of all, in one of its lane and as an end of edges; what is delayed also
    // in the index of timers.
    const inIndexes = 4 * count + Math.ceil(count / 2)
    expect(examined.reduce((sum, size) => sum + size, 0)).toBe(inIndexes)
  })
})
