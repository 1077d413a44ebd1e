import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Configuration } from './configuration.ts'
import { settingNames, settings, variables } from './settings.ts'

let folder = ''

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'flowfabric-config-'))
})

afterAll(() => rm(folder, { recursive: true }))

async function fileOf(content: unknown): Promise<string> {
  const file = path.join(folder, 'settings.json')
  await writeFile(file, typeof content === 'string' ? content : JSON.stringify(content))
  return file
}

test('a flag overrides the environment, which overrides the file', async () => {
  const file = await fileOf({ server: { port: 1 }, namespace: 'from-file' })
  const environment = { FLOWFABRIC_CONFIG_FILE: file, FLOWFABRIC_SERVER_PORT: '2' }

  const configuration = Configuration.read(environment)
  const flagged = Configuration.read(environment, undefined, { 'server.port': '3' })

  expect(flagged.resolve('server.port')).toEqual({ value: 3, source: { kind: 'flag', name: '--port' } })
  expect(configuration.resolve('server.port')).toEqual({
    value: 2,
    source: { kind: 'environment', name: 'FLOWFABRIC_SERVER_PORT' },
  })
  expect(configuration.resolve('namespace')).toEqual({ value: 'from-file', source: { kind: 'file', name: file } })
  expect(configuration.resolve('store')).toBeUndefined()
})

test('an empty variable counts as unset', () => {
  expect(new Configuration({ FLOWFABRIC_STORE: '' }).value('store')).toBeUndefined()
})

test('texts of the environment become numbers, booleans and lists', () => {
  const configuration = new Configuration({
    FLOWFABRIC_SERVER_OPEN: 'true',
    FLOWFABRIC_SERVER_ENGINE: '0',
    FLOWFABRIC_SERVER_CORS: 'https://a.example, https://b.example,',
    FLOWFABRIC_LOG_LEVEL: 'warn',
  })

  expect(configuration.value('server.open')).toBe(true)
  expect(configuration.value('server.engine')).toBe(false)
  expect(configuration.value('server.cors')).toEqual(['https://a.example', 'https://b.example'])
  expect(configuration.value('logLevel')).toBe('warn')
})

test.each([
  ['server.port', 'FLOWFABRIC_SERVER_PORT', '65536', 'from 0 to 65535'],
  ['server.port', 'FLOWFABRIC_SERVER_PORT', '80a', 'from 0 to 65535'],
  ['server.open', 'FLOWFABRIC_SERVER_OPEN', 'yes', 'true or false'],
  ['logLevel', 'FLOWFABRIC_LOG_LEVEL', 'loud', 'debug, info, warn, error, silent'],
] as const)('%s of %s=%s is refused with what it must be', (name, variable, text, expected) => {
  const configuration = new Configuration({ [variable]: text })

  expect(() => configuration.value(name)).toThrow(expected)
  expect(() => configuration.value(name)).toThrow(variable)
})

describe('a file of settings', () => {
  test.each([
    [{ server: { prot: 1 } }, 'unknown setting server.prot. Did you mean server.port?'],
    [{ namespaces: 'a' }, 'Did you mean namespace?'],
    [{ server: 8080 }, 'server in'],
    [{ server: { port: '8080' } }, 'from 0 to 65535'],
    [{ server: { cors: 'https://a.example' } }, 'a list of texts'],
    [{ valkey: { password: 7 } }, 'a text that is not empty'],
    [[], 'must be an object'],
    ['{"valkey":{"password":"hush"},}', 'is not JSON'],
  ])('of %j is refused', async (content, expected) => {
    const file = await fileOf(content)

    expect(() => Configuration.read({}, file)).toThrow(expected)
    expect(() => Configuration.read({}, file)).not.toThrow('hush')
  })

  test('that is named must exist', () => {
    expect(() => Configuration.read({}, path.join(folder, 'none.json'))).toThrow('cannot be read: ENOENT')
  })

  test('may name its schema for editors', async () => {
    const configuration = Configuration.read({}, await fileOf({ $schema: './any.json', logLevel: 'error' }))
    expect(configuration.value('logLevel')).toBe('error')
  })
})

test('a variable that resembles a setting is reported, one of another program is not', () => {
  const environment = { FLOWFABRIC_STROE: 'a', FLOWFABRIC_TEST_SEED: '1', FLOWFABRIC_STORE: 'memory:' }

  expect(new Configuration(environment).warnings()).toEqual([
    'FLOWFABRIC_STROE is not a setting and is ignored. Did you mean FLOWFABRIC_STORE?',
  ])
})

test('no two settings share a variable', () => {
  expect(new Set(variables).size).toBe(variables.length)
  for (const name of settingNames) expect(settings[name].variable).toMatch(/^FLOWFABRIC_[A-Z_]+$/)
})
