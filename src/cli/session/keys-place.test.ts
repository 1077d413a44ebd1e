import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { silentLog, systemRuntime } from '../../runtime/index.ts'
import { parseLocation } from '../../stores/open/location.ts'
import { Configuration } from '../config/configuration.ts'
import { findKeys, keysFileOf, makeKeys } from './keys-place.ts'

const runtime = systemRuntime()

let folder = ''
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'flowfabric-keys-'))
})
afterEach(async () => {
  await rm(folder, { recursive: true })
})

const unset = new Configuration({})

function naming(file: string, flag?: string) {
  return new Configuration({ FLOWFABRIC_KEYS_FILE: file }, undefined, { keysFile: flag })
}

const memory = parseLocation('memory:')

function besideStore() {
  const database = path.join(folder, 'a.db')
  return { location: parseLocation(`sqlite:${database}`), file: `${database}.keys` }
}

test('the file is the one that the flag names, then the variable, then the one beside the store', () => {
  const { location, file } = besideStore()

  expect(keysFileOf(naming('/run/keys', './mine'), location)).toBe('./mine')
  expect(keysFileOf(naming('/run/keys'), location)).toBe('/run/keys')
  expect(keysFileOf(naming(''), location)).toBe(file)
  expect(keysFileOf(unset, parseLocation('valkey://localhost:6379'))).toBe('./flowfabric.keys')
  expect(() => keysFileOf(unset, memory)).toThrow('--file')
})

test('a command that may need keys does without until it does', () => {
  const { location } = besideStore()

  expect(findKeys(unset, location, runtime, silentLog).source.ring()).toBeUndefined()
  expect(findKeys(unset, memory, runtime, silentLog).source.ring()).toBeUndefined()
  const named = findKeys(naming(path.join(folder, 'nothing')), location, runtime, silentLog)
  expect(() => named.source.ring()).toThrow('does not exist')
})

test('keys are made beside the store once, and found there afterwards', async () => {
  const { location, file } = besideStore()

  const made = await makeKeys(unset, location, runtime, silentLog)
  const again = await makeKeys(unset, location, runtime, silentLog)

  expect(made).toMatchObject({ file, isNew: true })
  expect(again).toMatchObject({ file, isNew: false })
  expect(again.source.ring()?.current.id).toBe(made.source.ring()?.current.id)
  expect(findKeys(unset, location, runtime, silentLog).source.ring()?.current.id).toBe(made.source.ring()?.current.id)
})

test('the keys of a store that ends with its process do so too', async () => {
  const made = await makeKeys(unset, memory, runtime, silentLog)

  expect(made).toMatchObject({ file: undefined, isNew: true })
  expect(made.source.ring()?.keys).toHaveLength(1)
})

test('keys that are named are not made', async () => {
  const file = path.join(folder, 'nothing')

  await expect(makeKeys(naming(file), memory, runtime, silentLog)).rejects.toThrow('does not exist')
  expect(existsSync(file)).toBe(false)
})
