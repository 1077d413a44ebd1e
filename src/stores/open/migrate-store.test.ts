import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { systemRuntime } from '../../runtime/index.ts'
import { programLevels } from '../level/store-level.ts'
import { migrateStore } from './migrate-store.ts'
import type { MigrateStoreOptions } from './migrate-store.ts'
import { openStore } from './open-store.ts'

async function newFile(): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'flowfabric-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  return path.join(folder, 'fabric.db')
}

test('a store that sets itself up needs nothing but to be opened', async () => {
  const file = await newFile()
  const store = await openStore(`sqlite:${file}`, { runtime: systemRuntime() })
  await store.close()

  const level = { kind: 'up_to_date', from: programLevels.max, to: programLevels.max, heldBackBy: [] }
  expect(await migrateStore(`sqlite:${file}`)).toEqual({ kind: 'ready_when_opened', level })
  expect(await migrateStore('memory:')).toEqual({ kind: 'ready_when_opened' })
})

test('a file that does not exist is not created', async () => {
  const file = await newFile()

  await expect(migrateStore(`sqlite:${file}`)).rejects.toMatchObject({ code: 'store_not_found' })
  expect(await migrateStore(`sqlite:${file}`, { dryRun: true })).toEqual({ kind: 'ready_when_opened' })
  expect(existsSync(file)).toBe(false)
})

test.each<[string, MigrateStoreOptions, string]>([
  ['mysql://user:hush@host', {}, 'location'],
  ['postgres://user:hush@ho st', {}, 'location'],
  ['postgres://user:hush@host', { postgres: { password: 'other' } }, 'postgres.password'],
  ['postgres://host', { postgres: { connections: 1 } }, 'postgres.connections'],
])('the location %s with %j is refused before anything is connected to', async (location, options, field) => {
  const refused = migrateStore(location, options)

  await expect(refused).rejects.toMatchObject({ code: 'invalid_configuration', detail: { field } })
  await expect(refused).rejects.not.toThrow('hush')
})

test('a server that does not run is unavailable', async () => {
  await expect(migrateStore('postgres://127.0.0.1:1/shop')).rejects.toMatchObject({ code: 'store_unavailable' })
})
