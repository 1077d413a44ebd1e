import { describe, expect, test } from 'vitest'
import { recordTypes } from '../../src/kernel/index.ts'
import { migrate } from '../../src/stores/postgres/schema/migrate.ts'
import { migrations } from '../../src/stores/postgres/schema/migrations.ts'
import { migrateStore } from '../../src/stores/open/migrate-store.ts'
import {
  PARTITION,
  claimAll,
  problemsOf,
  run,
  signalTo,
  stepOf,
  submit,
  waitAt,
} from '../../src/stores/store.fixture.ts'
import { lifeOn, open } from '../valkey/fabrics.ts'
import { asNewRole, failureOf, newPlace, runAt, sessionAt, versions } from './places.ts'
import type { Place } from './places.ts'
import { newStore } from './store-place.ts'

const TABLES = [...recordTypes, 'blob', 'entry', 'event_batch', 'fact', 'inbox', 'meta', 'partition', 'process'].sort()
const OLDER_VERSIONS = migrations.slice(1).map((_, i) => i + 1)
const AT_ONCE = 8
/** More than a statement takes on a busy machine, and a sleep that is longer. */
const TIME_LIMIT_MS = 500
const BEYOND_S = 0.7

async function tablesIn(location: string, schema: string): Promise<unknown[]> {
  const session = await sessionAt(location)
  const rows = await session.query('select tablename from pg_tables where schemaname = $1 order by tablename', [schema])
  return rows.map(({ tablename }) => tablename)
}

/** Makes the tables of a store's first steps in a place, and copies what another store holds as far as they have room for it. */
async function makeOlder(place: Place, from: Place, stepCount: number): Promise<void> {
  const session = await sessionAt(place.location)
  await migrate(session, place.schema, { steps: migrations.slice(0, stepCount) })
  for (const table of await tablesIn(place.location, place.schema)) {
    const columns = await session.query(
      `select string_agg(quote_ident(column_name), ', ') as names from information_schema.columns
       where table_schema = $1 and table_name = $2 and is_identity = 'NO'`,
      [place.schema, table],
    )
    const names = String(columns[0]?.['names'])
    await session.query(`insert into ${place.schema}.${String(table)} (${names})
      select ${names} from ${from.schema}.${String(table)} on conflict do nothing`)
  }
}

describe.each(versions)('a migration on %s', (version) => {
  test.each(OLDER_VERSIONS)('of a store of version %d keeps all that is in it', async (olderVersion) => {
    const newer = await newStore(version)
    const older = newPlace(version)
    for (let i = 0; i < 5; i++) await submit(newer.store, { key: `key ${i}` })
    await submit(newer.store, { delayMs: 60_000 })
    const [first] = await claimAll(newer.store)
    await run(newer.store, 'completeExecution', first!)
    const before = await newer.store.dump(PARTITION)
    const shown = await newer.query('select * from event order by sequence')
    await makeOlder(older, newer, olderVersion)

    expect((await failureOf(open(older.location))).code).toBe('older_schema')
    expect(await migrateStore(older.location)).toMatchObject({
      kind: 'migrated',
      from: olderVersion,
      to: migrations.length,
    })

    const store = await open(older.location)
    expect(await store.dump(PARTITION)).toEqual(before)
    const session = await sessionAt(older.location)
    expect(await session.query(`select * from ${older.schema}.event order by sequence`)).toEqual(shown)
    await submit(store)
    const [held] = await claimAll(store)
    await run(store, 'recordStep', stepOf(held!, 'fetch'))
    await run(store, 'suspendExecution', waitAt(held!, 'answer'))
    await run(store, 'deliverSignal', signalTo(held!.executionId, 'answer'))
    expect(await claimAll(store)).toHaveLength(1)
    expect(problemsOf(await store.dump(PARTITION))).toEqual([])
  })

  test('makes the tables, and finds nothing to do the next time', async () => {
    const { schema, location } = newPlace(version)

    const first = await migrateStore(location)
    const again = await migrateStore(location)

    expect(first).toMatchObject({ kind: 'migrated', from: 0, to: migrations.length })
    expect(again).toEqual({ kind: 'up_to_date', from: migrations.length, to: migrations.length, steps: [] })
    expect(await tablesIn(location, schema)).toEqual(TABLES)
    expect(await lifeOn(location)).toBe('Hello, Ada')
  })

  test('that is only to be shown leaves nothing behind, and what it shows does the same by hand', async () => {
    const { schema, location } = newPlace(version)

    const planned = await migrateStore(location, { dryRun: true })
    expect(planned).toMatchObject({ kind: 'pending', from: 0, to: migrations.length })
    const session = await sessionAt(location)
    expect(await session.query('select 1 from pg_namespace where nspname = $1', [schema])).toEqual([])

    if (planned.kind === 'ready_when_opened') throw new Error('It has steps.')
    await runAt(location, planned.steps.map(({ sql }) => sql).join('\n'))
    expect(await migrateStore(location)).toMatchObject({ kind: 'up_to_date' })
    expect(await lifeOn(location)).toBe('Hello, Ada')
  })

  test('uses a schema that is there already and empty', async () => {
    const { schema, location } = newPlace(version)
    await runAt(location, `create schema ${schema}`)

    const result = await migrateStore(location)

    expect(result).toMatchObject({ kind: 'migrated' })
    expect('steps' in result ? result.steps.map(({ title }) => title) : []).not.toContain(`create the schema ${schema}`)
  })

  test('that several begin at once is carried out by one of them', async () => {
    const { schema, location } = newPlace(version)

    const results = await Promise.all(Array.from({ length: AT_ONCE }, () => migrateStore(location)))

    const kinds = results.map(({ kind }) => kind).sort()
    expect(kinds).toEqual(['migrated', ...Array<string>(AT_ONCE - 1).fill('up_to_date')])
    expect(await tablesIn(location, schema)).toEqual(TABLES)
  })

  test('continues from the version of a store, and changes nothing if a step fails', async () => {
    const { schema, location } = newPlace(version)
    const session = await sessionAt(location)
    await migrate(session, schema)
    const better = { title: 'add a column', sql: 'alter table $schema.queue add column colour text;' }
    const broken = { title: 'break', sql: 'create table $schema.more (a text);\nselect * from $schema.nowhere;' }

    await expect(migrate(session, schema, { steps: [...migrations, better, broken] })).rejects.toThrow('nowhere')
    expect(await tablesIn(location, schema)).toEqual(TABLES)
    expect(await migrate(session, schema, { isDryRun: true })).toMatchObject({ from: migrations.length, steps: [] })

    const { from, to } = await migrate(session, schema, { steps: [...migrations, better] })
    expect([from, to]).toEqual([migrations.length, migrations.length + 1])
    await expect(session.query(`select colour from ${schema}.queue limit 1`)).resolves.toEqual([])
    expect((await failureOf(migrateStore(location))).code).toBe('newer_schema')
    expect((await failureOf(lifeOn(location))).code).toBe('newer_schema')
  })

  test.each([
    ['a table', 'create table $.visitor (id integer)'],
    ['a view', 'create view $.visitor as select 1 as id'],
    ['a table of the same name', 'create table $.meta (id integer)'],
    ['a table of the same columns', 'create table $.meta (name text, value text)'],
  ])('leaves the schema of another program, with %s in it, alone', async (_, statement) => {
    const { schema, location } = newPlace(version)
    await runAt(location, `create schema ${schema}`, statement.replace('$', schema))

    for (const dryRun of [true, false]) {
      const error = await failureOf(migrateStore(location, { dryRun }))
      expect([error.code, error.detail.field]).toEqual(['invalid_configuration', 'location'])
      expect(error.message).toContain('tables of another program')
    }
    expect((await tablesIn(location, schema)).length).toBeLessThan(2)
  })

  test('by a user without the privilege is refused with the reason', async () => {
    const role = await asNewRole(newPlace(version))

    const error = await failureOf(migrateStore(role.location))

    expect(error.code).toBe('invalid_configuration')
    expect(error.message).toContain('permission denied for database')
  })

  test('is not ended by a time limit that others work under', async () => {
    const place = newPlace(version)
    const { role, location } = await asNewRole(place)
    await runAt(
      place.location,
      `alter role ${role} set statement_timeout = '${TIME_LIMIT_MS}ms'`,
      `create schema ${place.schema} authorization ${role}`,
    )
    const session = await sessionAt(location)
    const slow = { title: 'take a while', sql: `select pg_sleep(${BEYOND_S});` }

    const { to } = await migrate(session, place.schema, { steps: [...migrations, slow] })

    expect(to).toBe(migrations.length + 1)
    await expect(session.query(`select pg_sleep(${BEYOND_S})`)).rejects.toMatchObject({ code: '57014' })
  })
})
