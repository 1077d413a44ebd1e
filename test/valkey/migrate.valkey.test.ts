import { beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { migrateStore } from '../../src/stores/open/migrate-store.ts'
import { executionPartition } from '../../src/stores/store.ts'
import { oldRecordTypes } from '../../src/stores/valkey/migration/old-schema.ts'
import type { OldRecordType } from '../../src/stores/valkey/migration/old-schema.ts'
import { Keys } from '../../src/stores/valkey/layout/keys.ts'
import type { PartitionDump } from '../../src/stores/store.ts'
import { ordered } from '../conformance/ordered-dump.ts'
import { startServer } from '../servers/server.ts'
import { documentedAccess } from './documented-access.ts'
import { LogLines, countIn, locations, newPrefix, open, refusalOf, submitInto } from './fabrics.ts'
import { OldStore, TRIMMED, blobBytes, livedPartition, oldForms, oldSettings } from './old-store.ts'

const HOUR_MS = 3_600_000
const REGISTER = 'flowfabric:{m}:libraries'
const OTHER_LIBRARY = 'flowfabric_0123456789abcdef'
const PARTITIONS = [0, 5]
const LEVEL_RAISED = { kind: 'raised', from: 1, to: 2, heldBackBy: [] }
const LEVEL_AS_IT_IS = { kind: 'up_to_date', from: 2, to: 2, heldBackBy: [] }
const OLDEST = 3
const { executionPartitions, indexedTags } = oldSettings(OLDEST)
const SETTINGS = { executionPartitions, limitPartitions: 4, indexedTags }

const targets = [
  { name: 'valkey', location: locations().valkey },
  { name: 'redis', location: locations().redis },
  { name: 'valkey cluster', location: locations().cluster },
]

let lived: PartitionDump

beforeAll(async () => {
  lived = withoutLaterFields(await livedPartition())
  expect(new Set(lived.records.map(({ type }) => type))).toEqual(new Set(oldRecordTypes))
})

/** Removes what the oldest layout has no fields for. */
function withoutLaterFields(dump: PartitionDump): PartitionDump {
  const records = dump.records.map((record) =>
    record.type === 'execution' && record.journal !== undefined
      ? { ...record, journal: { ...record.journal, hasCompletedSteps: undefined } }
      : record,
  )
  return { ...dump, records }
}

interface Place {
  readonly location: string
  readonly old: OldStore
}

/** A store of an old layout that has lived. */
async function oldStore(server: string, layout = OLDEST): Promise<Place> {
  const prefix = newPrefix()
  const old = await OldStore.at(server, prefix, layout)
  onTestFinished(() => old.remove())
  for (const partition of PARTITIONS) await old.write(partition, lived)
  return { location: `${server}?prefix=${prefix}`, old }
}

async function failureOf(work: Promise<unknown>): Promise<{ code: string; message: string }> {
  return await work.then(
    () => expect.fail('it was done'),
    (error: unknown) => error as { code: string; message: string },
  )
}

/** Checks everything that the store holds against what was written. */
async function expectMoved({ location, old }: Place): Promise<void> {
  const store = await open(location)
  expect(store.settings).toEqual(SETTINGS)
  for (const number of PARTITIONS) {
    const partition = executionPartition(number)
    expect(ordered(await store.dump(partition))).toEqual(ordered(lived))
    expect((await store.readEvents(partition, 0, 1)).firstSequence).toBe(TRIMMED + 1)
    for (const key of lived.blobKeys) {
      const newKey = new Keys(old.prefix, 0).key(partition, 'blob', key)
      expect(await old.connection.sendForBytes('GET', newKey)).toEqual(blobBytes(key))
    }
  }
  const oldNames = /\}:([xaqfeswgib]4?:|events4?$|trimmed4?$)/
  expect((await old.keys()).map(String).filter((key) => oldNames.test(key))).toEqual([])
  expect(await countIn(store)).toBe(PARTITIONS.length * countOf('execution'))
  await submitInto(store, 0)
}

function countOf(type: string): number {
  return lived.records.filter((record) => record.type === type).length
}

function expectedCounts() {
  const indexes = new Set(lived.entries.map(({ index }) => index)).size
  const { records, blobKeys, events } = lived
  const [twice, damaged] = [PARTITIONS.length, 0]
  return {
    records: twice * records.length,
    indexes: twice * indexes,
    blobs: twice * blobKeys.length,
    events: twice * events.length,
    damaged,
  }
}

const places = targets.flatMap((target) => oldForms.map(({ version: layout }) => ({ ...target, layout })))

describe.each(places)('a store of layout $layout on $name', ({ location: server, layout }) => {
  test('is refused with the command that migrates it, and holds the same afterwards; again is a no-op', async () => {
    const place = await oldStore(server, layout)

    const refused = await refusalOf(place.location)
    const planned = await migrateStore(place.location, { dryRun: true })
    const settingsBefore = await place.old.connection.send('GET', place.old.settingsKey)
    const done = await migrateStore(place.location)

    expect(refused.code).toBe('older_schema')
    expect(refused.message).toContain('flowfabric migrate <location>')
    expect(settingsBefore).toBe(JSON.stringify(oldSettings(layout)))
    expect(planned).toEqual({ kind: 'pending', from: layout, to: 5, steps: [], counts: expectedCounts() })
    expect(done).toEqual({ ...planned, kind: 'migrated', level: LEVEL_RAISED })

    const keys = await place.old.keys()
    const { id = '' } = lived.records.find(({ type }) => type === 'execution') ?? {}
    const execution = new Keys(place.old.prefix, 0).key(executionPartition(0), 'execution', id)
    const value = await place.old.connection.sendForBytes('GET', execution)
    expect(await migrateStore(place.location)).toEqual({ kind: 'ready_when_opened', level: LEVEL_AS_IT_IS })
    expect(await place.old.keys()).toEqual(keys)
    expect(await place.old.connection.sendForBytes('GET', execution)).toEqual(value)
    await expectMoved(place)
  })

  test('is moved in full by a migration that is interrupted after every step', async () => {
    const place = await oldStore(server, layout)
    let interruptions = 0
    for (;;) {
      const controller = new AbortController()
      const run = migrateStore(place.location, { signal: controller.signal, onProgress: () => controller.abort() })
      const error = await run.then(
        () => undefined,
        (failure: unknown) => failure as { code: string },
      )
      if (error === undefined) break
      expect(error.code).toBe('aborted')
      interruptions++
      const settings = JSON.parse(String(await place.old.connection.send('GET', place.old.settingsKey))) as object
      // A program of the previous version refuses every layout above its own.
      expect(settings).toEqual({ ...oldSettings(layout), layoutVersion: 5, migratingFrom: layout })
      const refused = await refusalOf(place.location)
      expect(refused.code).toBe('older_schema')
      expect(refused.message).toContain('flowfabric migrate <location>')
    }

    expect(interruptions).toBeGreaterThan(3)
    await expectMoved(place)
  })

  test('is moved once by several processes that migrate it at the same time', async () => {
    const place = await oldStore(server, layout)

    const results = await Promise.all([1, 2, 3].map(() => migrateStore(place.location)))

    expect(results.some(({ kind }) => kind === 'migrated')).toBe(true)
    await expectMoved(place)
  })
})

describe('a migration', () => {
  test('is refused while a program of another version may be running, unless it is forced', async () => {
    await using server = await startServer({ program: 'valkey-server' })
    const old = await OldStore.at(server.location, 'ff', OLDEST)
    for (const partition of PARTITIONS) await old.write(partition, lived)
    const [seconds] = (await server.call('TIME')) as string[]
    const now = Number(seconds) * 1_000
    await server.call('HSET', REGISTER, OTHER_LIBRARY, now - 5 * HOUR_MS)

    const refused = await failureOf(migrateStore(server.location))
    expect(refused.code).toBe('store_in_use')
    expect(refused.message).toMatch(new RegExp(`${OTHER_LIBRARY}.* 5\\.\\d h ago.*--force`))
    expect(await server.call('GET', old.settingsKey)).toBe(JSON.stringify(oldSettings(OLDEST)))

    expect(await migrateStore(server.location, { force: true })).toMatchObject({ kind: 'migrated' })
    await expectMoved({ location: server.location, old })
    old.connection.close()
  })

  test('is not held up by what was announced long ago, in whichever database the store is', async () => {
    await using server = await startServer({ program: 'valkey-server' })
    await server.call('HSET', REGISTER, OTHER_LIBRARY, 1)
    const location = `${server.location}/3`
    const old = await OldStore.at(location, 'ff', OLDEST)
    for (const partition of PARTITIONS) await old.write(partition, lived)
    const [seconds] = (await server.call('TIME')) as string[]

    expect(await migrateStore(location)).toMatchObject({ kind: 'migrated' })
    await expectMoved({ location, old })

    await old.connection.send('SET', old.settingsKey, JSON.stringify(oldSettings(OLDEST)))
    await server.call('HSET', REGISTER, OTHER_LIBRARY, Number(seconds) * 1_000)
    expect((await failureOf(migrateStore(location))).code).toBe('store_in_use')
    old.connection.close()
  })

  test('may be run by the user that the documentation gives to programs', async () => {
    const [user] = await documentedAccess()
    if (user === undefined) expect.fail('the documentation names a user')
    await using server = await startServer({ program: 'valkey-server', ...user })
    const old = await OldStore.at(server.location, 'ff', OLDEST)
    await old.write(0, lived)

    expect(await migrateStore(server.location)).toMatchObject({ kind: 'migrated' })
    old.connection.close()
  })

  test.each(oldForms)('keeps damaged values of layout $version, and counts them', async ({ version }) => {
    const place = await oldStore(locations().valkey, version)
    const { old, location } = place
    const damaged = lived.records.find(({ type }) => type === 'execution')
    if (damaged === undefined) expect.fail('there are executions')
    await old.connection.send('SETRANGE', old.oldKey(0, 'execution', damaged.id), 0, Buffer.alloc(40, 255))
    await old.connection.send('LSET', old.logKey(5, 'events'), 3, 'no event')
    const log = new LogLines()

    const done = await migrateStore(location, { log })

    expect(done).toMatchObject({ kind: 'migrated', counts: { ...expectedCounts(), damaged: 2 } })
    expect(log.at('warn')).toHaveLength(2)
    const store = await open(location)
    const [answer] = await store.run(executionPartition(0), [
      { operation: 'describeExecution', input: { executionId: damaged.id as never }, blobs: [] },
    ])
    expect(answer?.kind).toBe('fault')
    expect((await store.readEvents(executionPartition(5), TRIMMED + 4, 1_000)).events).toEqual(lived.events.slice(4))
  })

  test('is refused where there is no store, and from a layout that it does not know', async () => {
    const location = `${locations().valkey}?prefix=${newPrefix()}`
    expect((await failureOf(migrateStore(location))).code).toBe('store_not_found')
    expect(await migrateStore(location, { dryRun: true })).toEqual({ kind: 'ready_when_opened' })

    const { old, location: older } = await oldStore(locations().valkey)
    await old.connection.send('SET', old.settingsKey, JSON.stringify(oldSettings(2)))
    const error = await failureOf(migrateStore(older))
    expect(error.code).toBe('older_schema')
    expect(error.message).toContain('layout version 2')
  })

  test('resumes one that an older program began and did not finish', async () => {
    const { old, location } = await oldStore(locations().valkey)
    const newer = await OldStore.at(locations().valkey, old.prefix, 4)
    const half = { ...lived, events: lived.events.slice(0, 300) }
    for (const partition of PARTITIONS) {
      for (const { type, id } of lived.records.slice(0, 100)) {
        await old.connection.send('DEL', old.oldKey(partition, type as OldRecordType, id))
      }
      await old.connection.send('LTRIM', old.logKey(partition, 'events'), half.events.length, -1)
      await newer.write(partition, { ...half, records: lived.records.slice(0, 100), entries: [], blobKeys: [] })
    }
    const settings = { ...oldSettings(4), migratingFrom: 3 }
    await old.connection.send('SET', old.settingsKey, JSON.stringify(settings))
    newer.connection.close()

    expect((await refusalOf(location)).code).toBe('older_schema')
    expect(await migrateStore(location)).toMatchObject({ kind: 'migrated', from: 3, to: 5 })
    await expectMoved({ location, old })
  })
})
