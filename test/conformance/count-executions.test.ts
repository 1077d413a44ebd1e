import { expect, test } from 'vitest'
import { QUEUE_SCAN_COUNT } from '../../src/kernel/index.ts'
import type { LaneCounts, Position } from '../../src/kernel/index.ts'
import type { Bench } from './harness.ts'
import { conforms } from './harness.ts'

/** All pages of a count, as its caller adds them up. */
async function countAll({ fabric }: Bench, lane?: string) {
  const lanes = new Map<string, { classes: string[]; counts: Record<string, number> }>()
  let cursor: Position | undefined
  do {
    const page = await fabric.run('countExecutions', { lane, cursor })
    for (const found of page.lanes) add(lanes, found)
    cursor = page.cursor
  } while (cursor !== undefined)
  return Object.fromEntries(lanes)
}

function add(lanes: Map<string, { classes: string[]; counts: Record<string, number> }>, found: LaneCounts): void {
  const sum = lanes.get(found.lane) ?? { classes: [], counts: {} }
  sum.classes.push(...found.classes)
  for (const { state, count } of found.counts) sum.counts[state] = (sum.counts[state] ?? 0) + count
  lanes.set(found.lane, sum)
}

conforms('countExecutions', (bench) => {
  const { fabric, given } = bench

  test('counts each lane in each state, and reads without writing', async () => {
    await given.endedExecution('completed')
    await given.endedExecution('failed')
    await given.endedExecution('cancelled')
    await given.activeExecution()
    await given.executions(3)
    await given.delayedExecution()
    await given.eligibleExecution({ lane: 'other', class: 'one' })
    await given.eligibleExecution({ lane: 'other', class: 'two' })
    const before = await fabric.dump()

    expect(await fabric.run('countExecutions', {})).toEqual({
      kind: 'counted',
      cursor: undefined,
      lanes: [
        {
          lane: 'main',
          classes: ['greet'],
          waitingSince: bench.clock.now(),
          counts: [
            { state: 'waiting', count: 3 },
            { state: 'delayed', count: 1 },
            { state: 'active', count: 1 },
            { state: 'completed', count: 1 },
            { state: 'failed', count: 1 },
            { state: 'cancelled', count: 1 },
          ],
        },
        {
          lane: 'other',
          classes: ['one', 'two'],
          waitingSince: bench.clock.now(),
          counts: [{ state: 'waiting', count: 2 }],
        },
      ],
    })
    expect(await fabric.dump()).toEqual(before)
  })

  test('of a partition where nothing was submitted counts nothing', async () => {
    expect(await fabric.run('countExecutions', {})).toEqual({ kind: 'counted', lanes: [], cursor: undefined })
  })

  test('of one lane leaves out the others, also those whose names begin alike', async () => {
    await given.eligibleExecution({ lane: 'a' })
    await given.eligibleExecution({ lane: 'ab' })
    await given.eligibleExecution({ lane: 'b' })

    expect(await countAll(bench, 'a')).toEqual({ a: { classes: ['greet'], counts: { waiting: 1 } } })
  })

  test('of a lane with more classes than one page holds, counts nothing twice', async () => {
    const classes = Array.from({ length: QUEUE_SCAN_COUNT + 20 }, (_, i) => `class-${1_000 + i}`)
    await given.activeExecution({ lane: 'wide', class: 'class-1000' })
    await Promise.all(classes.map((className) => given.eligibleExecution({ lane: 'wide', class: className })))
    await given.delayedExecution({ lane: 'wide', class: 'class-1000' })
    await given.eligibleExecution({ lane: 'xyz' })

    expect(await countAll(bench)).toEqual({
      wide: { classes, counts: { waiting: classes.length, active: 1, delayed: 1 } },
      xyz: { classes: ['greet'], counts: { waiting: 1 } },
    })
  })
})

conforms('inspectPartition', ({ fabric, given, clock }) => {
  test('returns how much is there and what is overdue', async () => {
    await given.endedExecution('completed', { retentionMs: 3_000 })
    await given.delayedExecution({ delayMs: 1_000 })
    await given.delayedExecution({ delayMs: 2_000 })
    await given.delayedExecution({ delayMs: 9_000 })
    const start = clock.now()
    clock.advance(5_000)
    const before = await fabric.dump()

    expect(await fabric.run('inspectPartition', { limit: 100 })).toEqual({
      kind: 'inspected',
      executions: 4,
      flows: 0,
      openWaitpoints: 0,
      due: { count: 2, oldestAt: start + 1_000, nextAt: start + 9_000 },
      purge: { count: 1, oldestAt: start + 3_000, nextAt: undefined },
      siblingCancels: { count: 0, oldestAt: undefined, nextAt: undefined },
      flowCancels: { count: 0, oldestAt: undefined, nextAt: undefined },
      at: clock.now(),
    })
    expect(await fabric.dump()).toEqual(before)
  })

  test('stops counting at its limit', async () => {
    await given.executions(7, () => ({ delayMs: 1_000 }))
    clock.advance(1_000)

    expect(await fabric.run('inspectPartition', { limit: 5 })).toMatchObject({ executions: 5, due: { count: 5 } })
  })
})
