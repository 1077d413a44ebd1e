import { describe, expect, test } from 'vitest'
import { allPartitions } from '../../src/stores/partitions.ts'
import { executionPartition } from '../../src/stores/store.ts'
import type { Partition, Store, Wake } from '../../src/stores/store.ts'
import { countIn, locations, newPrefix, open, submitInto } from './fabrics.ts'

const { valkey, redis, cluster } = locations()

/** Two stores on one server. */
const pairs = [
  { name: 'with different prefixes on valkey', places: () => twoPrefixes(valkey) },
  { name: 'with different prefixes on redis', places: () => twoPrefixes(redis) },
  { name: 'with different prefixes on a valkey cluster', places: () => twoPrefixes(cluster) },
  { name: 'in different databases on valkey', places: () => twoDatabases(valkey) },
  { name: 'in different databases on redis', places: () => twoDatabases(redis) },
]

function twoPrefixes(location: string): [string, string] {
  const prefix = newPrefix()
  // One is the beginning of the other.
  return [`${location}?prefix=${prefix}`, `${location}?prefix=${prefix}:b`]
}

function twoDatabases(location: string): [string, string] {
  const prefix = newPrefix()
  return [`${location}/1?prefix=${prefix}`, `${location}/2?prefix=${prefix}`]
}

/** Listens, and returns the wake-ups once all partitions are subscribed. */
async function listenTo(store: Store): Promise<Wake[]> {
  const { promise, resolve } = Promise.withResolvers<undefined>()
  const heard: Wake[] = []
  const awaited = new Set<Partition>(allPartitions(store.settings))
  store.onWake((wake) => {
    heard.push(wake)
    awaited.delete(wake.partition)
    if (awaited.size === 0) resolve(undefined)
  })
  await promise
  heard.length = 0
  return heard
}

/** Waits for a wake-up of a partition. */
async function untilHeard(store: Store, partition: Partition): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<undefined>()
  const stop = store.onWake((wake) => {
    if (wake.partition === partition) resolve(undefined)
  })
  await promise
  stop()
}

describe.each(pairs)('two stores $name', ({ places }) => {
  test('have their own settings, executions and events', async () => {
    const [here, there] = places()
    const one = await open(`${here}&partitions=2`, { indexedTags: ['plan'] })
    const other = await open(`${there}&partitions=3`)
    await submitInto(one, 0)
    await submitInto(one, 1)
    await submitInto(other, 1)

    expect([one.settings.executionPartitions, other.settings.executionPartitions]).toEqual([2, 3])
    expect([await countIn(one), await countIn(other)]).toEqual([2, 1])
    expect((await other.readEvents(executionPartition(0), 0, 10)).events).toEqual([])
    expect((await one.dump(executionPartition(0))).records.length).toBeGreaterThan(0)
    expect((await other.dump(executionPartition(0))).records).toEqual([])
  })

  test('do not wake each other', async () => {
    const [here, there] = places()
    const listener = await open(`${here}&partitions=2`)
    const friend = await open(here)
    const stranger = await open(`${there}&partitions=2`)
    const heard = await listenTo(listener)

    await submitInto(stranger, 0)
    // The friend's message comes after any message of the stranger.
    const hearing = untilHeard(listener, executionPartition(0))
    await submitInto(friend, 0)
    await hearing

    expect(heard).toHaveLength(1)
  })
})
