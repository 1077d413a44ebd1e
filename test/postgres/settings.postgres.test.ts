import { describe, expect, test } from 'vitest'
import type { EngineError } from '../../src/kernel/engine-error.ts'
import { allPartitions, partitionNumber } from '../../src/stores/partitions.ts'
import { programLevels } from '../../src/stores/level/store-level.ts'
import { checkPermissions, grantsFor } from '../../src/stores/postgres/boot/permission-check.ts'
import { setUp } from '../../src/stores/postgres/schema/settings.ts'
import { migrateStore } from '../../src/stores/open/migrate-store.ts'
import type { Store } from '../../src/stores/store.ts'
import { lifeOn, open, refusalOf } from '../valkey/fabrics.ts'
import { asNewRole, failureOf, newPlace, runAt, sessionAt, versions } from './places.ts'
import type { Place } from './places.ts'

const RACES = 10
const DEFAULT_PARTITIONS = 4

type Opened = { readonly store: Store } | { readonly error: EngineError }

async function tryToOpen(location: string, indexedTags?: readonly string[]): Promise<Opened> {
  return await open(location, { indexedTags }).then(
    (store) => ({ store }),
    (error: unknown) => ({ error: error as EngineError }),
  )
}

async function metaOf({ location, schema }: Place): Promise<Map<unknown, unknown>> {
  const session = await sessionAt(location)
  const rows = await session.query(`select name, value from ${schema}.meta order by name`)
  return new Map(rows.map(({ name, value }) => [name, value]))
}

describe.each(versions)('the settings of a store on %s', (version) => {
  test('are the defaults unless its first user chooses, and hold for everyone after', async () => {
    const byDefault = newPlace(version)
    const chosen = newPlace(version)

    expect((await open(byDefault.location)).settings).toMatchObject({
      executionPartitions: DEFAULT_PARTITIONS,
      indexedTags: [],
    })
    const first = await open(`${chosen.location}&partitions=3`, { indexedTags: ['tenant', 'plan', 'plan'] })
    expect(first.settings).toMatchObject({ executionPartitions: 3, indexedTags: ['plan', 'tenant'] })
    expect((await open(chosen.location)).settings).toEqual(first.settings)
    const same = await open(`${chosen.location}&partitions=3`, { indexedTags: ['plan', 'tenant'] })
    expect(same.settings).toEqual(first.settings)
  })

  test('come with a row for each partition and a number of the store for its locks', async () => {
    const place = newPlace(version)
    const other = newPlace(version)
    await open(`${place.location}&partitions=3`)
    await open(other.location)
    const session = await sessionAt(place.location)

    expect(
      await session.query(`select number, name, last_sequence from ${place.schema}.partition order by number`),
    ).toEqual(
      allPartitions({ executionPartitions: 3, limitPartitions: 4, indexedTags: [] }).map((name) => ({
        number: partitionNumber(name),
        name,
        last_sequence: 0,
      })),
    )
    const [lockSpace, otherSpace] = [(await metaOf(place)).get('lock_space'), (await metaOf(other)).get('lock_space')]
    expect(lockSpace).toMatch(/^[1-9]\d*$/)
    expect(Number(lockSpace)).toBeLessThan(2 ** 31)
    expect(otherSpace).not.toBe(lockSpace)
  })

  test('have the same number for locks when the schema was dropped and made again', async () => {
    const { location, schema } = newPlace(version)
    const session = await sessionAt(location)
    const wanted = { executionPartitions: 1, indexedTags: undefined, levels: programLevels }

    const first = await setUp(session, { schema }, wanted)
    await session.query(`drop schema ${schema} cascade`)
    const second = await setUp(session, { schema }, wanted)

    expect(second.lockSpace).toBe(first.lockSpace)
    await expect(session.query('select pg_try_advisory_lock($1::integer, 0)', [first.lockSpace])).resolves.toHaveLength(
      1,
    )
  })

  test('that a program asks for otherwise are refused with both values', async () => {
    const { location } = newPlace(version)
    await open(`${location}&partitions=2`, { indexedTags: ['plan'] })

    const otherCount = await refusalOf(`${location}&partitions=16`)
    const otherTags = await refusalOf(location, { indexedTags: ['plan', 'tenant'] })

    expect([otherCount.code, otherTags.code]).toEqual(['configuration_mismatch', 'configuration_mismatch'])
    expect(otherCount.message).toContain('set up with number of execution partitions 2, this program asks for 16')
    expect(otherTags.message).toContain('set up with indexed tags ["plan"], this program asks for ["plan","tenant"]')
  })

  test('of a store that was never used are not written by a program that only reads', async () => {
    const { location, schema } = newPlace(version)

    const nowhere = await refusalOf(location, { create: false })
    await migrateStore(location)
    const unused = await refusalOf(location, { create: false })

    for (const error of [nowhere, unused]) {
      expect(error.code).toBe('store_not_found')
      expect(error.message).toContain(`There is no store in the schema "${schema}"`)
    }
    await open(location)
    expect((await open(location, { create: false })).settings.executionPartitions).toBe(DEFAULT_PARTITIONS)
  })

  test('are those of one of two first users who race, and the other is refused or agrees', async () => {
    for (let race = 0; race < RACES; race++) {
      const { location } = newPlace(version)
      const openings = [
        tryToOpen(`${location}&partitions=2`, ['plan']),
        tryToOpen(`${location}&partitions=5`, ['tenant']),
        tryToOpen(location),
      ]
      const all = await Promise.all(race % 2 === 0 ? openings : openings.reverse())

      const opened = all.flatMap((one) => ('store' in one ? [one.store] : []))
      const refused = all.flatMap((one) => ('error' in one ? [one.error] : []))
      const { settings } = await open(location)
      expect(opened.map((store) => store.settings)).toEqual(opened.map(() => settings))
      expect(refused.map(({ code }) => code)).toEqual(refused.map(() => 'configuration_mismatch'))
      // A user who asked for settings was either first or is refused; one who asked for none never is.
      expect(refused.length).toBe([2, 5].includes(settings.executionPartitions) ? 1 : 2)
      for (const store of opened) await store.close()
    }
  })

  test.each([
    ['schema_version', '999', 'newer_schema', 'schema version 999'],
    ['data_version', '999', 'newer_schema', 'data version 999'],
    ['schema_version', 'one', 'invalid_configuration', 'tables of another program'],
    ['execution_partitions', 'many', 'corruption', '"execution_partitions"'],
    ['lock_space', '-1', 'corruption', '"lock_space"'],
    ['indexed_tags', '{}', 'corruption', '"indexed_tags"'],
  ])('with %s %s are refused as %s', async (name, value, code, part) => {
    const { location, schema } = newPlace(version)
    await (await open(location)).close()
    await runAt(location, `update ${schema}.meta set value = '${value}' where name = '${name}'`)

    const error = await refusalOf(location)

    expect(error.code).toBe(code)
    expect(error.message).toContain(part)
  })

  test('are not put beside the tables of another program', async () => {
    const { location, schema } = newPlace(version)
    await runAt(location, `create schema ${schema}`, `create table ${schema}.visitor (id integer)`)

    const error = await refusalOf(location)

    expect([error.code, error.detail.field]).toEqual(['invalid_configuration', 'location'])
    expect(error.message).toContain(`The schema "${schema}" holds tables of another program`)
  })
})

describe.each(versions)('a role of its own on %s', (version) => {
  test('that may not create the tables is refused with what to grant, and nothing is left behind', async () => {
    const place = newPlace(version)
    const { location } = await asNewRole(place)

    const error = await refusalOf(location)

    expect([error.code, error.detail.field]).toEqual(['invalid_configuration', 'location'])
    expect(error.message).toContain('Run "flowfabric migrate" with this location')
    expect(error.message).toContain(grantsFor(place.schema))
    expect(error.message).not.toContain('hush')
    const session = await sessionAt(place.location)
    expect(await session.query('select 1 from pg_namespace where nspname = $1', [place.schema])).toEqual([])
  })

  test('uses a store with no more than the documented grants, and sets it up if it is the first', async () => {
    const place = newPlace(version)
    const { role, location } = await asNewRole(place)
    await migrateStore(place.location)
    expect((await failureOf(lifeOn(location))).message).toContain('permission denied for schema')

    await runAt(place.location, grantsFor(place.schema).replaceAll('…', role))

    expect(await lifeOn(location)).toBe('Hello, Ada')
    expect((await open(location)).settings.executionPartitions).toBe(DEFAULT_PARTITIONS)
  })

  test('that was granted too little is refused with all that is missing', async () => {
    const place = newPlace(version)
    const { role, location } = await asNewRole(place)
    await (await open(place.location)).close()
    await runAt(place.location, grantsFor(place.schema).replaceAll('…', role))
    const session = await sessionAt(location)
    await expect(checkPermissions(session, place.schema)).resolves.toBeUndefined()
    await runAt(
      place.location,
      `revoke delete, update on ${place.schema}.entry from ${role}`,
      `revoke insert on ${place.schema}.event_batch from ${role}`,
      `revoke insert, update, delete on ${place.schema}.meta from ${role}`,
    )

    const error = await failureOf(checkPermissions(session, place.schema))

    expect([error.code, error.detail.field]).toEqual(['invalid_configuration', 'location'])
    expect(error.message).toContain('delete on entry, update on entry, insert on event_batch. Let the owner run')
  })
})
