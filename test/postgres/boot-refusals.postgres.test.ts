import { appendFile, readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { inspect } from 'node:util'
import { describe, expect, test } from 'vitest'
import type { EngineError } from '../../src/kernel/engine-error.ts'
import { makeCertificate } from '../servers/certificate.ts'
import { startPostgres } from '../servers/postgres-server.ts'
import type { PostgresServer } from '../servers/postgres-server.ts'
import { giveToServers } from '../servers/system-user.ts'
import { until } from '../servers/until.ts'
import { lifeOn, refusalOf } from '../valkey/fabrics.ts'
import { runAt, serverOf, versions } from './places.ts'

const WRONG = 'barley'
const LIMIT_MS = 60_000

function expectConfigurationToBeChanged(error: EngineError, ...parts: string[]): void {
  expect([error.code, error.detail.field, error.isRetryable]).toEqual(['invalid_configuration', 'location', false])
  for (const part of parts) expect(error.message).toContain(part)
  expectNoSecretIn(error)
}

/** However it is printed, and with its causes. */
function expectNoSecretIn(error: EngineError): void {
  const shown = [inspect(error, { depth: null, showHidden: true }), JSON.stringify(error), error.stack].join('\n')
  expect(shown).not.toContain(WRONG)
}

/** The location of another user, or of the same one with another password. */
function as(user: string, location: string): string {
  return location.replace(/\/\/[^@]*@/, `//${user}@`)
}

/** Prepends a line to pg_hba.conf. */
async function letIn(server: PostgresServer, line: string): Promise<void> {
  const file = path.join(server.folder, 'data', 'pg_hba.conf')
  const rules = await readFile(file, 'utf8')
  await writeFile(file, `${line}\n${rules}`)
  await reload(server)
}

/** A server applies new settings before it accepts another connection. */
async function reload(server: PostgresServer): Promise<void> {
  const [before] = await server.query('select pg_conf_load_time()::text as at')
  await server.query('select pg_reload_conf()')
  await until('the server has read its settings', LIMIT_MS, async () => {
    const [now] = await server.query('select pg_conf_load_time()::text as at')
    return now?.['at'] === before?.['at'] ? undefined : true
  })
}

describe.each(versions)('a server (%s)', (version) => {
  const server = serverOf(version)

  test('that wants a password is refused without one, with a wrong one and with an unknown user', async () => {
    expectConfigurationToBeChanged(await refusalOf(as('postgres', server)), 'asks for a password')
    for (const user of [`postgres:${WRONG}`, `${WRONG}:${WRONG}`]) {
      expectConfigurationToBeChanged(await refusalOf(as(user, server)), 'does not accept the user and the password')
    }
    expectConfigurationToBeChanged(
      await refusalOf(as('postgres', server), { postgres: { password: WRONG } }),
      'does not accept the user and the password',
    )
  })

  test('without the database is refused by its name', async () => {
    const other = server.replace(/\/postgres$/, '/nowhere')

    expectConfigurationToBeChanged(await refusalOf(other), 'no database "nowhere": create it')
  })

  test('whose database has another encoding is refused with how to make one', async () => {
    await runAt(server, 'drop database if exists narrow')
    await runAt(
      server,
      `create database narrow encoding 'LATIN1' template template0 lc_collate 'C' lc_ctype 'C' locale_provider libc`,
    )

    const error = await refusalOf(server.replace(/\/postgres$/, '/narrow'))
    await runAt(server, 'drop database narrow with (force)')

    expectConfigurationToBeChanged(error, 'LATIN1', "encoding 'UTF8' template template0")
  })

  test('that does not support TLS is refused with what to change', async () => {
    for (const mode of ['require', 'verify-full']) {
      expectConfigurationToBeChanged(
        await refusalOf(`${server}?sslmode=${mode}`),
        'does not support TLS: leave "sslmode" out',
      )
    }
  })
})

describe.each(['installed', 'newest'] as const)('a server of its own (%s)', (version) => {
  test('that does not let the user in from here is refused with the file to change', async () => {
    await using server = await startPostgres({ version, fsync: false })
    await server.query(`create role outsider login password '${WRONG}'`)
    await letIn(server, 'host all outsider 127.0.0.1/32 reject')

    const error = await refusalOf(as(`outsider:${WRONG}`, server.location))

    expectConfigurationToBeChanged(error, "The server's pg_hba.conf does not let this user into this database")
  })

  test('whose user may not connect to the database is refused with what to grant', async () => {
    await using server = await startPostgres({ version, fsync: false })
    await server.query(`create role outsider login password '${WRONG}'`)
    await server.query('create database closed')
    await server.query('revoke connect on database closed from public')

    const error = await refusalOf(as(`outsider:${WRONG}`, server.location).replace(/\/postgres$/, '/closed'))

    expectConfigurationToBeChanged(error, '"grant connect on database"')
  })

  test('that has no connection left is unavailable, with what to do about it', async () => {
    const settings = { max_connections: '6', superuser_reserved_connections: '5' }
    await using server = await startPostgres({ version, fsync: false, settings })
    await server.query(`create role guest login password '${WRONG}'`)

    const error = await refusalOf(as(`guest:${WRONG}`, server.location))

    expect(error).toMatchObject({ code: 'store_unavailable', isRetryable: true })
    expect(error.message).toContain('max_connections')
    expectNoSecretIn(error)
  })

  test('that is a standby is unavailable, and the advice is to name its primary', async () => {
    await using server = await startPostgres({ version, fsync: false })
    const signal = path.join(server.folder, 'data', 'standby.signal')
    await appendFile(signal, '')
    await giveToServers(signal)
    await server.restart()

    const error = await refusalOf(server.location)

    expect(error).toMatchObject({ code: 'store_unavailable', isRetryable: true })
    expect(error.message).toContain('is a standby')
    expect(error.message).toContain('name its primary in the location')
  })

  test('that was made read-only is unavailable', async () => {
    await using server = await startPostgres({ version, fsync: false })
    await server.query('alter database postgres set default_transaction_read_only = on')

    const error = await refusalOf(server.location)

    expect(error).toMatchObject({ code: 'store_unavailable', isRetryable: true })
    expect(error.message).toContain('default_transaction_read_only')
  })

  test('that speaks TLS is used by who trusts its certificate, as far as he asks', async () => {
    await using server = await startPostgres({ version, fsync: false })
    const { certificateFile, keyFile, text: ca } = await makeCertificate(server.folder)
    for (const file of [certificateFile, keyFile]) await giveToServers(file)
    await server.query(`alter system set ssl_cert_file = '${certificateFile}'`)
    await server.query(`alter system set ssl_key_file = '${keyFile}'`)
    await server.query('alter system set ssl = on')
    await letIn(server, 'hostnossl all all 127.0.0.1/32 reject')

    const plain = await refusalOf(server.location)
    const unknown = await refusalOf(`${server.location}?sslmode=verify-full`)

    expectConfigurationToBeChanged(plain, 'without encryption: add "sslmode=require"')
    expectConfigurationToBeChanged(unknown, `127.0.0.1:${server.port}`, 'not trusted', 'postgres.tls.ca')
    expect(await lifeOn(`${server.location}?sslmode=require`)).toBe('Hello, Ada')
    for (const mode of ['require', 'verify-ca', 'verify-full']) {
      expect(await lifeOn(`${server.location}?sslmode=${mode}`, { postgres: { tls: { ca } } })).toBe('Hello, Ada')
    }
  })
})

describe('a server that does not run', () => {
  test('is unavailable, with its address and the reason', async () => {
    const error = await refusalOf('postgres://127.0.0.1:1/shop')

    expect(error).toMatchObject({ code: 'store_unavailable', isRetryable: true })
    expect(error.message).toContain('127.0.0.1:1 cannot be reached: connect ECONNREFUSED')
  })

  test('is named if its name does not exist', async () => {
    const error = await refusalOf(`postgres://user:${WRONG}@no-such-host.invalid/shop`)

    expect(error.code).toBe('store_unavailable')
    expect(error.message).toContain('no-such-host.invalid:5432')
    expectNoSecretIn(error)
  })

  test('has no socket either', async () => {
    const error = await refusalOf(`postgres://user:${WRONG}@/shop?host=${tmpdir()}/nowhere`)

    expect(error.code).toBe('store_unavailable')
    expect(error.message).toContain('/nowhere/.s.PGSQL.5432 cannot be reached')
    expectNoSecretIn(error)
  })
})
