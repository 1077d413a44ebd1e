import { describe, expect, test } from 'vitest'
import { migrate } from '../../src/stores/postgres/migrate.ts'
import { migrations } from '../../src/stores/postgres/migrations.ts'
import { migrateStore } from '../../src/stores/migrate-store.ts'
import { lifeOn } from '../valkey/fabrics.ts'
import { asNewRole, failureOf, newPlace, runAt, sessionAt, versions } from './places.ts'

const TABLES = ['attempt', 'blob', 'entry', 'event_batch', 'execution', 'inbox', 'meta', 'partition', 'queue']
const AT_ONCE = 8

async function tablesIn(location: string, schema: string): Promise<unknown[]> {
  const session = await sessionAt(location)
  const rows = await session.query('select tablename from pg_tables where schemaname = $1 order by tablename', [schema])
  return rows.map(({ tablename }) => tablename)
}

describe.each(versions)('a migration on %s', (version) => {
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

  test('goes on from where a store is, and changes nothing if a step fails', async () => {
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

  test('by somebody who may not is refused with the reason', async () => {
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
      `alter role ${role} set statement_timeout = '50ms'`,
      `create schema ${place.schema} authorization ${role}`,
    )
    const session = await sessionAt(location)
    const slow = { title: 'take a while', sql: 'select pg_sleep(0.2);' }

    const { to } = await migrate(session, place.schema, { steps: [...migrations, slow] })

    expect(to).toBe(migrations.length + 1)
    await expect(session.query('select pg_sleep(0.2)')).rejects.toMatchObject({ code: '57014' })
  })
})
