/** The tables of a store are compared with those that the migrations make. */
import { describe, expect, test } from 'vitest'
import { migrate } from '../../src/stores/postgres/schema/migrate.ts'
import { migrations } from '../../src/stores/postgres/schema/migrations.ts'
import { migrateStore } from '../../src/stores/open/migrate-store.ts'
import { compareTables } from '../../src/stores/open/compare-tables.ts'
import { parseLocation } from '../../src/stores/open/location.ts'
import { systemRuntime } from '../../src/runtime/index.ts'
import { asNewRole, failureOf, newPlace, runAt, sessionAt, versions } from './places.ts'

const runtime = systemRuntime()
const compare = (location: string) => compareTables(parseLocation(location), { runtime })

describe.each(versions)('the tables of a store on %s', (version) => {
  test('that the migrations have made do not differ, at every version', async () => {
    const { location } = newPlace(version)
    expect(await compare(location)).toEqual({ kind: 'not_set_up' })

    await migrateStore(location)
    expect(await compare(location)).toEqual({ kind: 'same', version: migrations.length, differences: [] })

    const older = newPlace(version)
    await migrate(await sessionAt(older.location), older.schema, { steps: migrations.slice(0, 3) })
    expect(await compare(older.location)).toEqual({ kind: 'same', version: 3, differences: [] })
    await migrateStore(older.location)
    expect(await compare(older.location)).toMatchObject({ kind: 'same', version: migrations.length })
  })

  test('that were changed differ, each difference with what to do', async () => {
    const { schema, location } = newPlace(version)
    await migrateStore(location)
    const session = await sessionAt(location)
    await runAt(
      location,
      `drop index ${schema}.inbox_pending`,
      `create index queue_by_lane on ${schema}.queue (lane)`,
      `alter table ${schema}.queue add column colour text`,
      `alter table ${schema}.attempt alter column outcome type varchar(40), alter column kind drop not null`,
      `alter table ${schema}.attempt drop constraint attempt_number_check`,
      `alter table ${schema}.edge drop constraint edge_joins_two, add constraint edge_joins_two check (upstream_id < downstream_id)`,
      `alter table ${schema}.fact set unlogged`,
      `create or replace view ${schema}.visitor as select 1 as id`,
      `drop table ${schema}.process`,
    )

    const found = await compare(location)

    if (found.kind !== 'different') throw new Error(`It is ${found.kind}.`)
    expect(found.differences.map(({ kind, object, name }) => `${kind} ${object} ${name}`)).toEqual([
      'missing constraint attempt.attempt_number_check',
      'changed column attempt.kind',
      'changed column attempt.outcome',
      'changed constraint edge.edge_joins_two',
      'changed table fact',
      'missing index inbox.inbox_pending',
      'missing table process',
      'unexpected column queue.colour',
      'unexpected index queue.queue_by_lane',
      'unexpected view visitor',
    ])
    expect(found.differences.find(({ name }) => name === 'attempt.outcome')).toMatchObject({
      expected: 'text not null',
      found: 'character varying(40) not null',
      remedy: expect.stringContaining('change it back') as unknown,
    })
    const left = await session.query(`select 1 from pg_class where relname = 'meta' and relpersistence = 't'`)
    expect(left).toEqual([])
  })

  test('may have settings of storage of their own, and are compared by a role that only uses them', async () => {
    const place = newPlace(version)
    await migrateStore(place.location)
    await runAt(place.location, `alter table ${place.schema}.queue set (fillfactor = 80)`)
    const role = await asNewRole(place)
    await runAt(place.location, `grant usage on schema ${place.schema} to ${role.role}`)
    await runAt(place.location, `grant select on all tables in schema ${place.schema} to ${role.role}`)

    expect((await compare(role.location)).kind).toBe('same')
  })

  test('of another program, or of a newer version, are refused', async () => {
    const other = newPlace(version)
    await runAt(other.location, `create schema ${other.schema}`, `create table ${other.schema}.visitor (id integer)`)
    const newer = newPlace(version)
    const step = { title: 'add a table', sql: 'create table $schema.more (a text);' }
    await migrate(await sessionAt(newer.location), newer.schema, { steps: [...migrations, step] })

    expect((await failureOf(compare(other.location))).message).toContain('tables of another program')
    expect((await failureOf(compare(newer.location))).code).toBe('newer_schema')
  })
})

test('a store without tables has nothing to compare', async () => {
  for (const location of ['memory:', 'valkey://localhost:6379']) {
    expect(await compare(location)).toEqual({ kind: 'no_tables' })
  }
})
