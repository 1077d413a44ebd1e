import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { systemRuntime } from '../../runtime/index.ts'
import type { EngineError } from '../../kernel/engine-error.ts'
import { loadSqlite, openStore } from './open-store.ts'
import type { OpenStoreOptions } from './open-store.ts'

const runtime = systemRuntime()
let folder = ''

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'flowfabric-'))
})

afterEach(() => rmSync(folder, { recursive: true, force: true }))

async function kindOf(location: string, options: Partial<OpenStoreOptions> = {}): Promise<string> {
  const store = await openStore(location, { runtime, ...options })
  const report = await store.report()
  await store.close()
  return `${report.kind}, ${report.durability.slice(0, report.durability.indexOf(':'))}`
}

async function failureOf(location: string, options: Partial<OpenStoreOptions> = {}): Promise<EngineError> {
  return await openStore(location, { runtime, ...options }).then(
    () => expect.fail('the store was opened'),
    (error: unknown) => error as EngineError,
  )
}

test('each location opens its kind of store', async () => {
  expect(await kindOf('memory:')).toBe('memory, none')
  expect(await kindOf('sqlite::memory:')).toBe('sqlite, none')
  expect(await kindOf(`sqlite:${folder}/a.db`)).toBe('sqlite, write-ahead log, synchronous normal')
  expect(await kindOf(`sqlite:${folder}/a.db?synchronous=full`)).toBe('sqlite, write-ahead log, synchronous full')
  expect(await kindOf(`sqlite:${folder}/a.db`, { synchronous: 'full' })).toBe(
    'sqlite, write-ahead log, synchronous full',
  )
})

test('a setting that stands in the location and in the options must say the same', async () => {
  const { code, detail } = await failureOf(`sqlite:${folder}/a.db?synchronous=full`, { synchronous: 'normal' })

  expect([code, detail.field]).toEqual(['invalid_configuration', 'synchronous'])
})

test.each(['off', 'ful', 5, null])('the setting synchronous %j is refused, whatever the store', async (synchronous) => {
  for (const location of ['memory:', 'sqlite::memory:']) {
    const { code, detail } = await failureOf(location, { synchronous: synchronous as never })

    expect([code, detail.field]).toEqual(['invalid_configuration', 'synchronous'])
  }
})

test.each(['valkey', 'postgres'])(
  'a setting of a store on %s that does not exist is refused before the store connects',
  async (kind) => {
    const { code, detail } = await failureOf(`${kind}://127.0.0.1:1`, { [kind]: { pasword: 'hush' } })

    expect([code, detail.field]).toEqual(['invalid_configuration', kind])
    expect(detail.message).toContain('Did you mean password?')
  },
)

test('where Node brings no SQLite, the refusal says which Node does', async () => {
  const unknownModule = 'node:no-such-module'
  const missing = () => import(unknownModule) as Promise<unknown>

  await expect(loadSqlite(missing)).rejects.toMatchObject({
    code: 'invalid_configuration',
    message: expect.stringContaining('Node 22.13 or later') as unknown,
  })
  await expect(loadSqlite(() => Promise.reject(new Error('another')))).rejects.toThrow('another')
})

test.each(['memory:', 'sqlite::memory:'])('%s indexes the tags that are asked for', async (location) => {
  const store = await openStore(location, { runtime, indexedTags: ['tenant', 'plan'] })

  expect([...store.settings.indexedTags].sort()).toEqual(['plan', 'tenant'])
  await store.close()
})

test.each<[unknown]>([
  [['Tenant']],
  [['a b']],
  [['']],
  [['a', 'b', 'c', 'd', 'e']],
  ['plan'],
  [[5]],
  [[undefined]],
  [null],
])('the indexed tags %j are refused', async (indexedTags) => {
  const { code, detail } = await failureOf('memory:', { indexedTags: indexedTags as never })

  expect([code, detail.field]).toEqual(['invalid_configuration', 'indexedTags'])
})
