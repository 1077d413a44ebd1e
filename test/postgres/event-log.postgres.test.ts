/** The event log in its tables: trimmed from its old end, also in the middle of a batch, and numbered in the order of commits. */
import { describe, expect, test } from 'vitest'
import { virtualRuntime } from '../../src/runtime/index.ts'
import { PARTITION, kindsOf, submit } from '../../src/stores/store.fixture.ts'
import { executionPartition } from '../../src/stores/store.ts'
import type { Partition, Store } from '../../src/stores/store.ts'
import { until } from '../servers/until.ts'
import { versions } from './places.ts'
import { LIMIT_MS, createIn, newStore } from './store-place.ts'
import type { StorePlace } from './store-place.ts'

/** Makes a log of so many batches with one event each, as if so many had been written. */
async function fillLog({ store, query }: StorePlace, batchCount: number): Promise<void> {
  await submit(store)
  await query(
    `insert into event_batch (partition, first_sequence, last_sequence, at, records)
      select partition, n, n, at, records from event_batch, generate_series(2, $1::bigint) n`,
    [batchCount],
  )
  await query('update partition set last_sequence = $1', [batchCount])
}

function submitTogether(store: Store, count: number, number = 0): Promise<unknown> {
  const calls = Array.from({ length: count }, () => createIn(number))
  return store.run(executionPartition(number), calls).then((answers) => {
    expect(new Set(kindsOf(answers))).toEqual(new Set(['created']))
  })
}

async function sequencesOf(store: Store): Promise<number[]> {
  return (await store.readEvents(PARTITION, 0, 10_000)).events.map(({ sequence }) => sequence)
}

describe.each(versions)('the event log on %s', (version) => {
  test('is trimmed by age and by count, and sequences continue', async () => {
    const runtime = virtualRuntime()
    const { store } = await newStore(version, 'partitions=1', { runtime, clock: 'runtime' })
    for (let i = 0; i < 4; i++) {
      await submit(store)
      runtime.jump(1_000)
    }
    const start = runtime.now() - 4_000

    expect(await store.trimEvents(PARTITION, start + 1, 100)).toBe(1)
    expect(await store.readEvents(PARTITION, 0, 100)).toMatchObject({ firstSequence: 2, lastSequence: 4 })
    expect(await store.trimEvents(PARTITION, 0, 2)).toBe(1)
    const page = await store.readEvents(PARTITION, 3, 1)
    expect([page.firstSequence, page.events.map(({ sequence }) => sequence)]).toEqual([3, [4]])
    expect(await store.trimEvents(PARTITION, 0, 2)).toBe(0)
    expect(await store.trimEvents(PARTITION, runtime.now(), 0)).toBe(2)
    expect(await store.readEvents(PARTITION, 0, 100)).toEqual({ events: [], firstSequence: 5, lastSequence: 4 })
    await submit(store)
    expect(await store.readEvents(PARTITION, 0, 100)).toMatchObject({ firstSequence: 5, lastSequence: 5 })
  })

  test('is read as a whole where a batch is damaged that a hint concerns', async () => {
    const { store, query } = await newStore(version, 'partitions=1')
    for (let i = 0; i < 3; i++) await submit(store)
    await query(`update event_batch set records = '[[3,' where last_sequence = 2`)
    const page = await store.readEvents(PARTITION, 0, 10, { texts: ['nothing'] })
    expect(page.events.map(({ sequence }) => sequence)).toEqual([1, 3])
  })

  test('is trimmed in the middle of a batch, and read from the middle of one', async () => {
    const { store, query } = await newStore(version)
    await submitTogether(store, 10)
    await submitTogether(store, 10)
    expect(await query('select first_sequence, last_sequence from event_batch order by 1')).toEqual([
      { first_sequence: 1, last_sequence: 10 },
      { first_sequence: 11, last_sequence: 20 },
    ])

    expect(await store.trimEvents(PARTITION, 0, 14)).toBe(6)
    expect(await store.trimEvents(PARTITION, 0, 14)).toBe(0)
    expect(await sequencesOf(store)).toEqual(Array.from({ length: 14 }, (_, i) => i + 7))
    expect(await store.trimEvents(PARTITION, 0, 5)).toBe(9)
    const page = await store.readEvents(PARTITION, 17, 2)
    expect([page.firstSequence, page.lastSequence]).toEqual([16, 20])
    expect(page.events.map(({ sequence }) => sequence)).toEqual([18, 19])
    expect(await query('select sequence from event order by 1')).toHaveLength(5)
  })

  test('is trimmed in steps where it is long', async () => {
    const place = await newStore(version)
    await fillLog(place, 1_700)

    expect(await place.store.trimEvents(PARTITION, 0, 10)).toBe(1_690)
    expect(await place.store.readEvents(PARTITION, 0, 1)).toMatchObject({ firstSequence: 1_691, lastSequence: 1_700 })
  })

  test('is trimmed once by two concurrent callers, while others keep writing', async () => {
    const place = await newStore(version)
    await fillLog(place, 3_000)
    const other = await place.openAnother()

    const [here, there] = await Promise.all([
      place.store.trimEvents(PARTITION, 0, 100),
      other.trimEvents(PARTITION, 0, 100),
      submitTogether(place.store, 20),
      submitTogether(other, 20),
    ])

    expect(here + there).toBeGreaterThanOrEqual(2_900)
    expect(here + there).toBeLessThanOrEqual(2_940)
    const left = await sequencesOf(place.store)
    expect(left).toEqual(Array.from({ length: 3_040 - here - there }, (_, i) => here + there + 1 + i))
  })

  test('of a partition that was never written reads as empty', async () => {
    const { store } = await newStore(version)

    expect(await store.readEvents(PARTITION, 0, 10)).toEqual({ events: [], firstSequence: 1, lastSequence: 0 })
    expect(await store.dump(PARTITION)).toEqual({ records: [], entries: [], blobKeys: [], events: [] })
    expect(await store.trimEvents(PARTITION, 0, 0)).toBe(0)
  })
})

describe.each(versions)('a reader that follows the log on %s', (version) => {
  const WRITERS = 3
  const BATCHES = 40
  const PARTITIONS = [0, 1]

  /** Reads on until so many events were seen, each as soon as it can be. */
  async function follow(store: Store, partition: Partition, count: number): Promise<number[]> {
    const seen: number[] = []
    await until(`${count} events are seen`, LIMIT_MS, async () => {
      for (;;) {
        const { events } = await store.readEvents(partition, seen.at(-1) ?? 0, 7)
        seen.push(...events.map(({ sequence }) => sequence))
        if (seen.length >= count) return seen
        if (events.length === 0) return undefined
      }
    })
    return seen
  }

  test('sees every event once and in order, however many write at the same time', async () => {
    const { store, openAnother } = await newStore(version, 'partitions=2')
    const writers = [store]
    while (writers.length < WRITERS) writers.push(await openAnother())
    const reader = await openAnother()

    const writing = writers.map(async (writer, i) => {
      for (let batch = 0; batch < BATCHES; batch++) {
        await Promise.all(PARTITIONS.map((number) => submitTogether(writer, 1 + ((batch + i) % 3), number)))
      }
    })
    const count = writers
      .map((_, i) => Array.from({ length: BATCHES }, (_, batch) => 1 + ((batch + i) % 3)))
      .flat()
      .reduce((sum, size) => sum + size, 0)
    const followed = await Promise.all(PARTITIONS.map((number) => follow(reader, executionPartition(number), count)))
    await Promise.all(writing)

    const all = Array.from({ length: count }, (_, i) => i + 1)
    expect(followed).toEqual(PARTITIONS.map(() => all))
  })
})
