import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { DATA_VERSION } from '../../../kernel/index.ts'
import { programLevels } from '../../level/store-level.ts'
import type { EngineError } from '../../../kernel/engine-error.ts'
import { PARTITION, submit } from '../../store.fixture.ts'
import { SCHEMA_VERSION } from './file-settings.ts'
import type { SqliteOptions } from '../sqlite-store.ts'
import { fileWorld } from '../sqlite.fixture.ts'
import type { FileWorld } from '../sqlite.fixture.ts'

let world: FileWorld

beforeEach(() => {
  world = fileWorld()
})

afterEach(() => world.close())

async function failureOf(options: Partial<SqliteOptions> = {}): Promise<EngineError> {
  return await world.open(options).then(
    () => expect.fail('the store was opened'),
    (error: unknown) => error as EngineError,
  )
}

/** A file that was set up and closed, with one of its settings changed by hand. */
async function fileWith(setting: string, value: number): Promise<void> {
  await world.open()
  await world.settle()
  world.connect().prepare('update meta set value = ? where name = ?').run(String(value), setting)
  await world.settle()
}

describe('a file that was set up', () => {
  test('by a newer schema is refused and stays as it is', async () => {
    await fileWith('schema_version', SCHEMA_VERSION + 7)
    const before = readFileSync(world.file)

    const { code, detail } = await failureOf()

    expect(code).toBe('newer_schema')
    expect(detail.message).toContain(`schema version ${SCHEMA_VERSION + 7}`)
    expect(detail.message).toContain(`schema version ${SCHEMA_VERSION}.`)
    expect(readFileSync(world.file).equals(before)).toBe(true)
    expect(existsSync(`${world.file}-wal`)).toBe(false)
  })

  test('with newer data is refused and stays as it is', async () => {
    await fileWith('data_version', DATA_VERSION + 1)
    const before = readFileSync(world.file)

    const { code, detail } = await failureOf()

    expect(code).toBe('newer_schema')
    expect(detail.message).toContain(`data version ${DATA_VERSION + 1}`)
    expect(readFileSync(world.file).equals(before)).toBe(true)
  })

  test('with a level that the program cannot run is refused and stays as it is', async () => {
    await fileWith('level', programLevels.max + 1)
    const before = readFileSync(world.file)

    const { code, detail } = await failureOf()

    expect(code).toBe('newer_schema')
    expect(detail.message).toContain(`level ${programLevels.max + 1}`)
    expect(readFileSync(world.file).equals(before)).toBe(true)
  })

  test.each([
    ['data_version', 0],
    ['execution_partitions', 8],
  ])('with another %s is refused with both values', async (setting, value) => {
    await fileWith(setting, value)

    const { code, detail } = await failureOf()

    expect(code).toBe('configuration_mismatch')
    expect(detail.message).toMatch(new RegExp(`${value}, this program asks for 1`))
  })

  test('keeps its indexed tags, whatever their order, and refuses others with both values', async () => {
    expect((await world.open({ indexedTags: ['tenant', 'plan'] })).settings.indexedTags).toEqual(['plan', 'tenant'])
    expect((await world.open({ indexedTags: ['plan', 'tenant'] })).settings.indexedTags).toEqual(['plan', 'tenant'])
    expect((await world.open()).settings.indexedTags).toEqual(['plan', 'tenant'])

    const { code, detail } = await failureOf({ indexedTags: ['region'] })

    expect(code).toBe('configuration_mismatch')
    expect(detail.message).toContain('["plan","tenant"]')
    expect(detail.message).toContain('["region"]')
  })

  test('by several at once is set up once', async () => {
    const stores = await Promise.all(Array.from({ length: 5 }, () => world.open({ indexedTags: ['tenant'] })))

    for (const store of stores) await submit(store)

    expect((await stores[0]!.dump(PARTITION)).events).toHaveLength(5)
  })
})

describe('a path that cannot be a store', () => {
  async function messageFor(options: Partial<SqliteOptions>): Promise<string> {
    const { code, detail } = await failureOf(options)
    expect([code, detail.field]).toEqual(['invalid_configuration', 'location'])
    return detail.message ?? ''
  }

  test('is refused if its folder does not exist', async () => {
    const file = join(world.folder, 'missing', 'fabric.db')

    expect(await messageFor({ file })).toBe(
      `The folder of ${file} does not exist: create ${world.folder}/missing, or correct the path.`,
    )
  })

  test('is refused if it is a folder', async () => {
    expect(await messageFor({ file: world.folder })).toContain(`${world.folder} is a folder`)
  })

  test('is refused if it is a device', async () => {
    expect(await messageFor({ file: '/dev/null' })).toContain('/dev/null is not an ordinary file')
  })

  test('is refused and left alone if the file is no database', async () => {
    const text = 'Dear diary,\n'.repeat(100)
    writeFileSync(world.file, text)

    expect(await messageFor({})).toContain(`${world.file} is not a SQLite database`)
    expect(readFileSync(world.file, 'utf8')).toBe(text)
  })

  test('is refused and left alone if the database belongs to another program', async () => {
    world.connect().exec('create table meta (id integer); create table customer (id integer)')
    await world.settle()
    const before = readFileSync(world.file)

    expect(await messageFor({})).toContain(`${world.file} is a database of another program`)
    expect(readFileSync(world.file).equals(before)).toBe(true)
  })

  test('is refused if the file may only be read', async () => {
    await world.open()
    await world.settle()
    chmodSync(world.file, 0o444)
    chmodSync(world.folder, 0o755)

    expect(await unprivileged(() => messageFor({}))).toContain(`${world.file} cannot be written`)
  })

  test('is refused if its folder may only be read', async () => {
    chmodSync(world.folder, 0o555)

    expect(await unprivileged(() => messageFor({}))).toContain(`${world.file} cannot be written`)
  })

  test('is refused if its folder cannot be entered', async () => {
    const closed = join(world.folder, 'closed')
    mkdirSync(closed, { mode: 0o000 })
    chmodSync(world.folder, 0o755)

    expect(await unprivileged(() => messageFor({ file: join(closed, 'fabric.db') }))).toContain('cannot be reached')
    chmodSync(closed, 0o755)
  })
})

const NOBODY = 65_534

/** Permissions do not bind the superuser, so another user opens the file if the superuser runs the tests. */
async function unprivileged<T>(work: () => Promise<T>): Promise<T> {
  const self = process.geteuid?.()
  if (self !== 0) return await work()
  process.seteuid?.(NOBODY)
  try {
    return await work()
  } finally {
    process.seteuid?.(self)
  }
}
