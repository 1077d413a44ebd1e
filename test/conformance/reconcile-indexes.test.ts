import { expect, test } from 'vitest'
import {
  OPEN_WAITPOINTS_INDEX,
  RECONCILE_SCAN_COUNT,
  bufferedSignalsIndex,
  signalsIndex,
  stepsIndex,
  waitpointsIndex,
} from '../../src/kernel/index.ts'
import type { IndexProblem, ReconcileCursor } from '../../src/kernel/index.ts'
import type { Bench } from './harness.ts'
import { conformsOnServers } from './harness.ts'

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

conformsOnServers('reconcileIndexes', (bench) => {
  const { fabric, given, journal } = bench

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
    // Each is looked at as a record, in the index of all, in one of its lane, as an end of edges and as an owner of a
    // journal; what is delayed also in the index of timers.
    const inIndexes = 5 * count + Math.ceil(count / 2)
    expect(examined.reduce((sum, size) => sum + size, 0)).toBe(inIndexes)
  })

  test('proves what executions remember, waitpoint by waitpoint, and writes nothing', async () => {
    const held = await journal.waiting()
    for (let i = 0; i < 70; i++) {
      await journal.signal(held, `@box ${i}`)
      await journal.signal(held, '@news')
    }
    const before = await fabric.dump()

    const { repaired, examined } = await reconcile(bench)

    expect(repaired).toEqual([])
    expect(Math.max(...examined)).toBeLessThan(2 * RECONCILE_SCAN_COUNT)
    expect(await fabric.dump()).toEqual(before)
  })

  test('repairs the indexes of what executions remember', async () => {
    const held = await given.activeExecution()
    await journal.record(held, 'fetch')
    await journal.signal(held, '@news')
    await journal.wait(held)
    const { executionId } = held
    const [signal] = await journal.signals(held)
    const [fetched, waited] = await Promise.all([journal.step(held, 'fetch'), journal.step(held, 'answer')])
    const [news, reply] = await Promise.all([journal.waitpoint(held, '@news'), journal.waitpoint(held, 'reply')])
    const before = await fabric.dump()
    await fabric.setEntry(stepsIndex(executionId), fetched.id, 7)
    await fabric.setEntry(stepsIndex(executionId), waited.id, undefined)
    await fabric.setEntry(OPEN_WAITPOINTS_INDEX, reply.id, 1)
    await fabric.setEntry(OPEN_WAITPOINTS_INDEX, news.id, 1)
    await fabric.setEntry(waitpointsIndex(executionId), reply.id, undefined)
    await fabric.setEntry(bufferedSignalsIndex(news.id), signal!.id, undefined)
    await fabric.setEntry(bufferedSignalsIndex(reply.id), signal!.id, 1)
    await fabric.setEntry(signalsIndex(executionId), 'gone', 9)

    const { repaired } = await reconcile(bench)

    expect(repaired.map(({ problem }) => problem).toSorted()).toEqual([
      ...Array<string>(3).fill('extra_entry'),
      ...Array<string>(3).fill('missing_entry'),
      ...Array<string>(2).fill('wrong_score'),
    ])
    expect(await fabric.dump()).toEqual(before)
  })
})
