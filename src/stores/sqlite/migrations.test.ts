import { afterEach, beforeEach, expect, test } from 'vitest'
import { recordTypes } from '../../kernel/index.ts'
import { recordColumns } from '../columns.ts'
import { PARTITION, claimAll, problemsOf, run, submit } from '../store.fixture.ts'
import { SCHEMA_VERSION } from './file-settings.ts'
import { migrations } from './migrations.ts'
import { fileWorld } from './sqlite.fixture.ts'
import type { FileWorld } from './sqlite.fixture.ts'

let world: FileWorld
let older: FileWorld

beforeEach(() => {
  world = fileWorld()
  older = fileWorld()
})

afterEach(async () => {
  await world.close()
  await older.close()
})

/** Moves what a file holds into one whose tables are those of the first steps, as far as they have a place for it. */
async function makeOlder(stepCount: number): Promise<void> {
  await world.settle()
  const connection = older.connect()
  for (const step of migrations.slice(0, stepCount)) connection.exec(step)
  connection.prepare('attach ? as newer').run(world.file)
  const tables = connection.prepare('select name from main.sqlite_schema where type = ? order by name').all('table')
  for (const { name } of tables) {
    const table = String(name)
    const columns = connection.prepare(`select name from pragma_table_info(?, 'main')`).all(table)
    const names = columns.map((column) => String(column['name'])).join(', ')
    connection.exec(`insert into main.${table} (${names}) select ${names} from newer.${table}`)
  }
  const mark = connection.prepare('pragma newer.application_id').get()?.['application_id']
  connection.exec(`pragma main.application_id = ${String(mark)}`)
  connection.prepare(`update main.meta set value = ? where name = 'schema_version'`).run(String(stepCount))
  await older.settle()
}

test('a file of every older schema is brought up to date when it is opened, with all that is in it', async () => {
  const store = await world.open()
  for (let i = 0; i < 5; i++) await submit(store, { key: `key ${i}` })
  await submit(store, { delayMs: 60_000 })
  const [first] = await claimAll(store)
  await run(store, 'completeExecution', first!)
  const before = await store.dump(PARTITION)
  await makeOlder(1)

  const upgraded = await older.open()

  expect(await upgraded.dump(PARTITION)).toEqual(before)
  await submit(upgraded)
  expect(await claimAll(upgraded)).toHaveLength(1)
  expect(problemsOf(await upgraded.dump(PARTITION))).toEqual([])
  const version = older.connect().prepare(`select value from meta where name = 'schema_version'`).get()
  expect(version).toEqual({ value: String(SCHEMA_VERSION) })
})

test('the tables have the columns that the records are described with', async () => {
  await world.open()
  const connection = world.connect()

  for (const type of recordTypes) {
    const rows = connection.prepare('select name, type from pragma_table_info(?)').all(type)
    const found = rows.map((row) => `${String(row['name'])} ${String(row['type']).toLowerCase()}`)
    const described = recordColumns[type].map((column) => `${column.name} ${column.type}`)
    expect(found.sort()).toEqual([...described, 'id text', 'partition integer', 'record text'].sort())
  }
})

const FLOW = {
  id: `'f0-1'`,
  partition: '1',
  namespace: `'default'`,
  name: `'brief'`,
  state: `'open'`,
  phase: `'open'`,
  member_count: '0',
  edge_count: '0',
  created_at: '1',
  changed_at: '1',
  ended_at: 'null',
  record: `'[]'`,
}
const EDGE = {
  id: `'a-b'`,
  partition: '1',
  flow_id: `'f0-1'`,
  upstream_id: `'a'`,
  downstream_id: `'b'`,
  state: `'open'`,
  created_at: '1',
  resolved_at: 'null',
  record: `'[]'`,
}

function insertion(table: string, row: Readonly<Record<string, string>>): string {
  return `insert into ${table} (${Object.keys(row).join(', ')}) values (${Object.values(row).join(', ')})`
}

test.each([
  ['an open flow that has ended', 'flow', { ...FLOW, ended_at: '1' }],
  ['a flow that has ended at no time', 'flow', { ...FLOW, state: `'failed'`, phase: `'ended'` }],
  ['a flow that has ended and runs', 'flow', { ...FLOW, state: `'running'`, phase: `'ended'`, ended_at: '1' }],
  ['an open flow that is cancelled', 'flow', { ...FLOW, state: `'cancelled'` }],
  ['a flow of an unknown phase', 'flow', { ...FLOW, phase: `'odd'` }],
  ['an open edge that is resolved', 'edge', { ...EDGE, resolved_at: '1' }],
  ['a satisfied edge that is not', 'edge', { ...EDGE, state: `'satisfied'` }],
  ['an edge from a member to itself', 'edge', { ...EDGE, downstream_id: `'a'` }],
])('the tables refuse %s', async (_, table, row) => {
  await world.open()
  const connection = world.connect()

  connection.exec(insertion(table, table === 'flow' ? FLOW : EDGE))

  expect(() => connection.exec(insertion(table, { ...row, id: `'other'` }))).toThrow('CHECK constraint failed')
})
