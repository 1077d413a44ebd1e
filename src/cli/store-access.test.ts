import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { EngineError } from '../stores/engine-error.ts'
import { parseLocation } from '../stores/location.ts'
import { accessFrom } from './store-access.ts'
import type { Environment } from './store-access.ts'

const HERE = parseLocation('valkey://localhost')

let folder = ''

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'flowfabric-'))
})

afterAll(() => rm(folder, { recursive: true }))

async function fileWith(text: string): Promise<string> {
  const file = path.join(folder, 'password')
  await writeFile(file, text)
  return file
}

async function refusalOf(environment: Environment): Promise<EngineError> {
  return await accessFrom(environment, HERE).then(
    () => expect.fail('it was accepted'),
    (error: unknown) => error as EngineError,
  )
}

describe('user and password of a Valkey store', () => {
  test.each<[Environment, object]>([
    [{}, {}],
    [{ FLOWFABRIC_VALKEY_PASSWORD: 'hush' }, { password: 'hush' }],
    [
      { FLOWFABRIC_VALKEY_USERNAME: 'app', FLOWFABRIC_VALKEY_PASSWORD: 'hush' },
      { username: 'app', password: 'hush' },
    ],
    [{ FLOWFABRIC_VALKEY_USERNAME: '', FLOWFABRIC_VALKEY_PASSWORD: '', FLOWFABRIC_VALKEY_PASSWORD_FILE: '' }, {}],
  ])('come from the environment %j', async (environment, expected) => {
    expect(await accessFrom(environment, HERE)).toEqual(expected)
  })

  test.each(['hush', 'hush\n', 'hush\r\n'])('come from a file that holds %j, without its line break', async (text) => {
    const environment = { FLOWFABRIC_VALKEY_PASSWORD_FILE: await fileWith(text) }
    expect(await accessFrom(environment, HERE)).toEqual({ password: 'hush' })
  })

  test('keep every other blank of a file', async () => {
    const environment = { FLOWFABRIC_VALKEY_PASSWORD_FILE: await fileWith(' hu\nsh \n\n') }
    expect(await accessFrom(environment, HERE)).toEqual({ password: ' hu\nsh \n' })
  })

  test('come from the location if it carries a password, and from nowhere for any other kind of store', async () => {
    const environment = { FLOWFABRIC_VALKEY_USERNAME: 'app', FLOWFABRIC_VALKEY_PASSWORD: 'hush' }

    for (const location of ['valkey://:other@localhost', 'valkey://user:other@localhost', 'sqlite:./a.db', 'memory:']) {
      expect(await accessFrom(environment, parseLocation(location))).toEqual({})
    }
    expect(await accessFrom(environment, parseLocation('valkey://user@localhost'))).toEqual({
      username: 'user',
      password: 'hush',
    })
  })

  test('are refused if there are two passwords, or the file cannot be read or is empty', async () => {
    const twice = await refusalOf({ FLOWFABRIC_VALKEY_PASSWORD: 'hush', FLOWFABRIC_VALKEY_PASSWORD_FILE: 'a' })
    const missing = await refusalOf({ FLOWFABRIC_VALKEY_PASSWORD_FILE: path.join(folder, 'nowhere') })
    const empty = await refusalOf({ FLOWFABRIC_VALKEY_PASSWORD_FILE: await fileWith('\n') })

    expect([twice.code, missing.code, empty.code]).toEqual(Array(3).fill('invalid_configuration'))
    expect(twice.message).toContain('leave one out')
    expect(twice.message).not.toContain('hush')
    expect(missing.message).toMatch(/nowhere, which FLOWFABRIC_VALKEY_PASSWORD_FILE names, cannot be read: ENOENT/)
    expect(empty.message).toContain('is empty')
  })
})
