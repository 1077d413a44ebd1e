import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { systemRuntime } from '../../../runtime/index.ts'
import { Connection } from '../connection/connection.ts'
import { openFile } from './file.ts'
import { programLevels } from '../../level/store-level.ts'
import { migrations } from './migrations.ts'
import { compareFile } from './table-catalogue.ts'

let folder = ''
let count = 0
const runtime = systemRuntime()

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'flowfabric-tables-'))
})

afterAll(() => rm(folder, { recursive: true }))

/** A file with its tables, changed by statements. */
async function fileWith(...statements: string[]): Promise<string> {
  const file = path.join(folder, `store-${(count += 1)}.db`)
  const { writer, reader } = await openFile(runtime, file, 'normal', { indexedTags: [], levels: programLevels })
  reader.close()
  for (const statement of statements) writer.execute(statement)
  writer.close()
  return file
}

async function differencesOf(...statements: string[]) {
  const compared = await compareFile(await fileWith(...statements), runtime)
  return compared?.differences.map(({ kind, object, name }) => [kind, object, name])
}

test('a file that the migrations have made has no difference', async () => {
  expect(await compareFile(await fileWith(), runtime)).toEqual({ version: migrations.length, differences: [] })
})

test('a column, an index, a table, a view or a trigger that was added is found', async () => {
  expect(
    await differencesOf(
      'alter table queue add column colour text',
      'create index queue_by_lane on queue (lane)',
      'create table visitor (id integer)',
      'create view seen as select 1 as one',
      'create trigger noticed after delete on blob begin select 1; end',
    ),
  ).toEqual([
    ['unexpected', 'trigger', 'blob.noticed'],
    ['unexpected', 'column', 'queue.colour'],
    ['unexpected', 'index', 'queue.queue_by_lane'],
    ['unexpected', 'view', 'seen'],
    ['unexpected', 'table', 'visitor'],
  ])
})

test('a table or a column that was dropped is found', async () => {
  expect(await differencesOf('drop table fact', 'alter table attempt drop column failure_message')).toEqual([
    ['missing', 'column', 'attempt.failure_message'],
    ['missing', 'table', 'fact'],
  ])
})

test('a changed type and a lost constraint are found', async () => {
  const columns = 'number integer primary key, name text not null unique, last_sequence integer not null default 0'
  const constraint = ' check (last_sequence >= 0)'
  const remake = (text: string) => ['drop table partition', `create table partition (${text}) strict`]

  expect(await differencesOf(...remake(`${columns}${constraint}`))).toEqual([])
  expect(await differencesOf(...remake(columns))).toEqual([['changed', 'table', 'partition']])
  expect(await differencesOf(...remake(`${columns.replace('name text', 'name blob')}${constraint}`))).toEqual([
    ['changed', 'column', 'partition.name'],
  ])
})

test('a file that is absent or empty is not compared, and one of another program is refused', async () => {
  const empty = path.join(folder, 'empty.db')
  await writeFile(empty, '')
  const other = path.join(folder, 'other.db')
  const connection = new Connection(other)
  connection.execute('create table visitor (id integer)')
  connection.close()

  expect(await compareFile(path.join(folder, 'absent.db'), runtime)).toBeUndefined()
  expect(await compareFile(empty, runtime)).toBeUndefined()
  await expect(compareFile(other, runtime)).rejects.toThrow('another program')
})
