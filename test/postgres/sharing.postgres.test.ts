/** Several stores in one database: those in one schema are one, those in different schemas know nothing of each other. */
import { describe, expect, test } from 'vitest'
import { executionPartition } from '../../src/stores/store.ts'
import type { Partition, Store, Wake } from '../../src/stores/store.ts'
import { untilListening } from '../conformance/until-listening.ts'
import { until } from '../servers/until.ts'
import { countIn, open, submitInto } from '../valkey/fabrics.ts'
import { newPlace, versions } from './places.ts'
import { LIMIT_MS, holdLock, newStore } from './store-place.ts'

/** The wake-ups that a store receives. */
async function listenTo(store: Store): Promise<Wake[]> {
  await untilListening(store)
  const heard: Wake[] = []
  store.onWake((wake) => heard.push(wake))
  return heard
}

function untilHeard(heard: readonly Wake[], partition: Partition): Promise<Wake> {
  return until(`${partition} is woken`, LIMIT_MS, async () => heard.find((wake) => wake.partition === partition))
}

describe.each(versions)('two stores in two schemas on %s', (version) => {
  test('have their own settings, executions and events', async () => {
    const one = await open(`${newPlace(version).location}&partitions=2`, { indexedTags: ['plan'] })
    const other = await open(`${newPlace(version).location}&partitions=3`)
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
    const [here, there] = [newPlace(version).location, newPlace(version).location]
    const listener = await open(`${here}&partitions=2`)
    const friend = await open(here)
    const stranger = await open(`${there}&partitions=2`)
    const heard = await listenTo(listener)

    await submitInto(stranger, 0)
    // The friend's wake-up arrives after any of the stranger's.
    await submitInto(friend, 1)
    await untilHeard(heard, executionPartition(1))

    expect(heard.map(({ partition }) => partition)).toEqual([executionPartition(1)])
  })

  test('do not wait for each other', async () => {
    const [here, there] = [await newStore(version), await newStore(version)]
    await holdLock(here, 0)

    await submitInto(there.store, 0)
    const waiting = submitInto(here.store, 0)
    await submitInto(there.store, 0)
    await here.query('commit')
    await waiting

    expect([await countIn(here.store), await countIn(there.store)]).toEqual([1, 2])
  })
})

test.each(versions)('two stores in one schema on %s are one', async (version) => {
  const { location } = newPlace(version)
  const [one, other] = [await open(`${location}&partitions=2`), await open(location)]
  const heard = await listenTo(other)

  await submitInto(one, 0)
  await submitInto(other, 1)

  expect(await countIn(one)).toBe(2)
  expect(await countIn(other)).toBe(2)
  expect(await untilHeard(heard, executionPartition(0))).toMatchObject({ hasEvents: true })
})
