import { inspect } from 'node:util'
import { describe, expect, test } from 'vitest'
import type { EngineError } from '../../src/kernel/engine-error.ts'
import { startReplicated } from '../servers/replication.ts'
import { startServer } from '../servers/server.ts'
import type { ServerProgram } from '../servers/server-process.ts'
import { lifeOn, locations, newPrefix, refusalOf } from './fabrics.ts'
import { FakeServer } from './fake-server.ts'

const PASSWORD = 'open: sesame'
const WRONG = 'barley'
const EVERYTHING = ['~*', '&*', '+@all']

const programs: ServerProgram[] = ['valkey-server', 'redis-server']

function expectConfigurationToBeChanged(error: EngineError, ...parts: string[]): void {
  expect([error.code, error.detail.field, error.isRetryable]).toEqual(['invalid_configuration', 'location', false])
  for (const part of parts) expect(error.message).toContain(part)
  expectNoSecretIn(error)
}

/** The error as printed in any form, causes included. */
function expectNoSecretIn(error: EngineError): void {
  const shown = [inspect(error, { depth: null, showHidden: true }), JSON.stringify(error), error.stack].join('\n')
  for (const secret of [PASSWORD, encodeURIComponent(PASSWORD), WRONG]) expect(shown).not.toContain(secret)
}

describe('a server that is too old is refused by its version', () => {
  test.each([
    [{ redis_version: '6.2.14' }, 'Redis 6.2.14'],
    [{ redis_version: '5.0.7' }, 'Redis 5.0.7'],
    [{ redis_version: '6.0.0', valkey_version: '6.9.9' }, 'Valkey 6.9.9'],
    [{}, 'Redis 0'],
  ])('%j', async (info, named) => {
    await using fake = new FakeServer(info)

    const error = await refusalOf(await fake.start())

    expectConfigurationToBeChanged(error, named, 'Use Valkey 7.2 or later, or Redis 7.0 or later.')
  })
})

describe.each(programs)('a %s', (program) => {
  test('that evicts keys is refused with the setting to change, and is left as it was', async () => {
    await using server = await startServer({ program, settings: { 'maxmemory-policy': 'allkeys-lru' } })

    const error = await refusalOf(server.location)

    expectConfigurationToBeChanged(error, 'allkeys-lru', '"CONFIG SET maxmemory-policy noeviction"')
    expect(await server.call('DBSIZE')).toBe(0)
    expect(await server.call('FUNCTION', 'LIST')).toEqual([])
  })

  test.each(['FUNCTION', 'FCALL', 'SSUBSCRIBE'])('without the command %s is refused by its name', async (command) => {
    await using server = await startServer({ program, settings: { 'rename-command': [command, ''] } })

    const error = await refusalOf(server.location)

    expectConfigurationToBeChanged(error, command, 'docs/valkey.md')
    expect(await server.call('DBSIZE')).toBe(0)
  })

  test('that is a replica is unavailable, and the advice is to name its primary', async () => {
    await using replicated = await startReplicated({ program })
    const { primary, replica } = replicated

    const error = await refusalOf(replica.location)

    expect(error).toMatchObject({ code: 'store_unavailable', isRetryable: true })
    expect(error.message).toContain('is a replica')
    expect(error.message).toContain('name its primary in the location')
    expect(await lifeOn(primary.location)).toBe('Hello, Ada')
  })

  test('that wants a password is refused without one and with a wrong one', async () => {
    await using server = await startServer({ program, password: PASSWORD })
    const address = `127.0.0.1:${server.port}`

    expectConfigurationToBeChanged(await refusalOf(`valkey://${address}`), 'asks for a password')
    for (const location of [`valkey://:${WRONG}@${address}`, `valkey://unknown:${WRONG}@${address}`]) {
      expectConfigurationToBeChanged(await refusalOf(location), 'does not accept the user and the password')
    }
    expectConfigurationToBeChanged(
      await refusalOf(`valkey://${address}`, { valkey: { password: WRONG } }),
      'does not accept the user and the password',
    )
  })

  test.each([
    ['-get', 'get'],
    ['-fcall', 'fcall'],
    ['-function', 'function|list'],
    ['-info', 'info'],
  ])('whose user has the rule %s is refused with the name of the command', async (rule, command) => {
    await using server = await startServer({
      program,
      username: 'fabric',
      password: PASSWORD,
      rules: [...EVERYTHING, rule],
    })

    const error = await refusalOf(server.location)

    expectConfigurationToBeChanged(error, `'${command}' command`, 'docs/valkey.md')
  })

  test('whose user may not run what the library runs is refused with all of it, before anything is written', async () => {
    const rules = [...EVERYTHING, '-zadd', '-spublish', '-del']
    await using server = await startServer({ program, username: 'fabric', password: PASSWORD, rules })

    const error = await refusalOf(server.location)

    expectConfigurationToBeChanged(error, 'ZADD', 'DEL', 'SPUBLISH', '"ff:"')
    expect(error.message).not.toContain('ZREM')
    expect(await server.call('DBSIZE')).toBe(0)
  })

  test.each([
    ['keys', ['~other:*', '&*', '+@all'], 'No permissions'],
    ['channels', ['~*', 'resetchannels', '&other:*', '+@all'], 'SPUBLISH'],
  ])('whose user has %s of another prefix is refused', async (_, rules, part) => {
    await using server = await startServer({ program, username: 'fabric', password: PASSWORD, rules })

    const error = await refusalOf(server.location)

    expectConfigurationToBeChanged(error, 'docs/valkey.md')
    expect(error.message.toLowerCase()).toContain(part.toLowerCase())
  })

  test('has a configured number of databases, and a store in one beyond is refused', async () => {
    await using server = await startServer({ program, settings: { databases: '4' } })

    const error = await refusalOf(`${server.location}/4`)

    expectConfigurationToBeChanged(error, 'no database 4', '"databases"')
    expect(await server.call('DBSIZE')).toBe(0)
    expect(await lifeOn(`${server.location}/3`)).toBe('Hello, Ada')
  })

  test('whose user may not select a database is refused instead of being used in database 0', async () => {
    const rules = [...EVERYTHING, '-select']
    await using server = await startServer({ program, username: 'fabric', password: PASSWORD, rules })

    expectConfigurationToBeChanged(await refusalOf(`${server.location}/1`), "'select' command")
    expect(await lifeOn(server.location)).toBe('Hello, Ada')
  })

  test('whose certificate is not known is refused with how to make it known', async () => {
    await using server = await startServer({ program, isEncrypted: true })

    const error = await refusalOf(server.location)

    expectConfigurationToBeChanged(
      error,
      `127.0.0.1:${server.port}`,
      'self-signed',
      'valkey.tls.ca',
      'NODE_EXTRA_CA_CERTS',
    )
  })

  test('that speaks TLS is not reached without, and the error advises it', async () => {
    await using server = await startServer({ program, isEncrypted: true })

    const error = await refusalOf(`valkey://127.0.0.1:${server.port}`)

    expect(error.code).toBe('store_unavailable')
    expect(error.message).toContain('if it speaks TLS, begin the location with "valkeys://"')
  })
})

describe('a server that does not run', () => {
  test.each(['valkey://127.0.0.1:1', 'valkeys://127.0.0.1:1', 'valkey-cluster://127.0.0.1:1'])(
    '%s is unavailable, with its address and the reason',
    async (location) => {
      const error = await refusalOf(location)

      expect(error).toMatchObject({ code: 'store_unavailable', isRetryable: true })
      expect(error.message).toContain('127.0.0.1:1 cannot be reached: connect ECONNREFUSED')
    },
  )

  test('is named if its name does not resolve', async () => {
    const error = await refusalOf(`valkey://user:${WRONG}@no-such-host.invalid`)

    expect(error.code).toBe('store_unavailable')
    expect(error.message).toContain('no-such-host.invalid:6379')
    expectNoSecretIn(error)
  })
})

describe('a cluster', () => {
  test('is refused as a single server, and a single server as a cluster', async () => {
    const { valkey, cluster } = locations()
    const [member] = cluster.replace('valkey-cluster', 'valkey').split(',')

    expectConfigurationToBeChanged(await refusalOf(member ?? ''), 'begin the location with "valkey-cluster://"')
    expectConfigurationToBeChanged(
      await refusalOf(valkey.replace('valkey', 'valkey-cluster')),
      'begin the location with "valkey://"',
    )
  })

  test('reports why it is refused', async () => {
    await using secret = await startServer({ password: PASSWORD })
    await using encrypted = await startServer({ isEncrypted: true })

    const noPassword = await refusalOf(`valkey-cluster://127.0.0.1:${secret.port}`)
    const wrongPassword = await refusalOf(`valkey-cluster://:${WRONG}@127.0.0.1:${secret.port}`)
    const unknown = await refusalOf(`valkey-cluster://127.0.0.1:${encrypted.port}?tls=true`)

    expectConfigurationToBeChanged(noPassword, 'asks for a password')
    expectConfigurationToBeChanged(wrongPassword, 'does not accept')
    expectConfigurationToBeChanged(unknown, 'not trusted')
  })

  test('is reached through any of its members, though others of the location are gone', async () => {
    const location = locations().cluster.replace('valkey-cluster://', 'valkey-cluster://127.0.0.1:1,')

    expect(await lifeOn(`${location}?prefix=${newPrefix()}`)).toBe('Hello, Ada')
  })
})
