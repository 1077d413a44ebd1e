import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { systemRuntime } from '../runtime/index.ts'
import type { EngineError } from './engine-error.ts'
import { openStore } from './open-store.ts'
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

test.each(['memory:', 'sqlite::memory:'])('%s indexes the tags that are asked for', async (location) => {
  const store = await openStore(location, { runtime, indexedTags: ['tenant', 'plan'] })

  expect([...store.settings.indexedTags].sort()).toEqual(['plan', 'tenant'])
  await store.close()
})

test.each([[['Tenant']], [['a b']], [['']], [['a', 'b', 'c', 'd', 'e']]])(
  'the indexed tags %j are refused',
  async (indexedTags) => {
    const { code, detail } = await failureOf('memory:', { indexedTags })

    expect([code, detail.field]).toEqual(['invalid_configuration', 'indexedTags'])
  },
)
