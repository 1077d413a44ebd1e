import { afterEach, beforeEach, expect, test } from 'vitest'
import { recordTypes } from '../../../kernel/index.ts'
import { recordColumns } from '../../sql/columns.ts'
import { PARTITION, claimAll, problemsOf, run, signalTo, stepOf, submit, waitAt } from '../../store.fixture.ts'
import { SCHEMA_VERSION } from './file-settings.ts'
import { migrations } from './migrations.ts'
import { fileWorld } from '../sqlite.fixture.ts'
import type { FileWorld } from '../sqlite.fixture.ts'

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

const olderVersions = migrations.slice(1).map((_, i) => i + 1)

test.each(olderVersions)('a file of schema version %d is brought up to date when it is opened', async (version) => {
  const store = await world.open()
  for (let i = 0; i < 5; i++) await submit(store, { key: `key ${i}` })
  await submit(store, { delayMs: 60_000 })
  const [first] = await claimAll(store)
  await run(store, 'completeExecution', first!)
  const before = await store.dump(PARTITION)
  await makeOlder(version)

  const upgraded = await older.open()

  expect(await upgraded.dump(PARTITION)).toEqual(before)
  await submit(upgraded)
  const [held] = await claimAll(upgraded)
  await run(upgraded, 'recordStep', stepOf(held!, 'fetch'))
  await run(upgraded, 'suspendExecution', waitAt(held!, 'answer'))
  await run(upgraded, 'deliverSignal', signalTo(held!.executionId, 'answer'))
  expect(await claimAll(upgraded)).toHaveLength(1)
  expect(problemsOf(await upgraded.dump(PARTITION))).toEqual([])
  const noted = older.connect().prepare(`select value from meta where name = 'schema_version'`).get()
  expect(noted).toEqual({ value: String(SCHEMA_VERSION) })
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

const STEP = {
  id: `'0-1 fetch'`,
  partition: '1',
  execution_id: `'0-1'`,
  kind: `'call'`,
  name: `'fetch'`,
  position: '0',
  phase: `'completed'`,
  attempt_count: '1',
  created_at: '1',
  ended_at: '1',
  record: `'[]'`,
}
const WAITPOINT = {
  id: `'0-1 answer'`,
  partition: '1',
  execution_id: `'0-1'`,
  target: `'answer'`,
  signal_count: '0',
  created_at: '1',
  closed_at: 'null',
  close_reason: 'null',
  record: `'[]'`,
}
const SIGNAL = {
  id: `'0-1 answer once'`,
  partition: '1',
  execution_id: `'0-1'`,
  target: `'answer'`,
  sequence: '1',
  name: `'go'`,
  source_type: `'caller'`,
  source_identity: `'ada'`,
  effect: `'buffered'`,
  accepted_at: '1',
  record: `'[]'`,
}

function insertion(table: string, row: Readonly<Record<string, string>>): string {
  return `insert into ${table} (${Object.keys(row).join(', ')}) values (${Object.values(row).join(', ')})`
}

const wholeRows = { flow: FLOW, edge: EDGE, step: STEP, waitpoint: WAITPOINT, signal: SIGNAL }

test.each<[string, keyof typeof wholeRows, Readonly<Record<string, string>>]>([
  ['an open flow that has ended', 'flow', { ended_at: '1' }],
  ['a flow that has ended at no time', 'flow', { state: `'failed'`, phase: `'ended'` }],
  ['a flow that has ended and runs', 'flow', { state: `'running'`, phase: `'ended'`, ended_at: '1' }],
  ['an open flow that is cancelled', 'flow', { state: `'cancelled'` }],
  ['a flow of an unknown phase', 'flow', { phase: `'odd'` }],
  ['an open edge that is resolved', 'edge', { resolved_at: '1' }],
  ['a satisfied edge that is not', 'edge', { state: `'satisfied'` }],
  ['an edge from a member to itself', 'edge', { downstream_id: `'a'` }],
  ['a step of an unknown kind', 'step', { kind: `'odd'` }],
  ['a step of an unknown phase', 'step', { phase: `'odd'` }],
  ['a step that stands nowhere', 'step', { position: '-1' }],
  ['a completed step that has not ended', 'step', { ended_at: 'null' }],
  ['an open wait that has ended', 'step', { kind: `'wait'`, phase: `'open'` }],
  ['work that is open', 'step', { phase: `'open'`, ended_at: 'null' }],
  ['a sleep that has completed like work', 'step', { kind: `'sleep'` }],
  ['a waitpoint that was closed for no reason', 'waitpoint', { closed_at: '1' }],
  ['an open waitpoint with a reason for being closed', 'waitpoint', { close_reason: `'expired'` }],
  ['a waitpoint with less than no signals', 'waitpoint', { signal_count: '-1' }],
  ['a signal without a number', 'signal', { sequence: '0' }],
  ['a signal of an unknown source', 'signal', { source_type: `'odd'` }],
  ['a signal of an unknown effect', 'signal', { effect: `'odd'` }],
])('the tables refuse %s', async (_, table, change) => {
  await world.open()
  const connection = world.connect()
  const row = wholeRows[table]

  connection.exec(insertion(table, row))

  expect(() => connection.exec(insertion(table, { ...row, ...change, id: `'other'` }))).toThrow(
    'CHECK constraint failed',
  )
})
