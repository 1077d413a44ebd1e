import { access } from 'node:fs/promises'
import { Client } from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startPgbouncer } from './pgbouncer.ts'
import type { PostgresVersion } from './postgres-programs.ts'
import { startPostgres } from './postgres-server.ts'
import type { PostgresServer } from './postgres-server.ts'

const versions: PostgresVersion[] = ['installed', 'newest']

async function connect(location: string): Promise<Client> {
  const client = new Client({ connectionString: location })
  await client.connect()
  return client
}

async function backendOf(client: Client): Promise<unknown> {
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid')
  return rows[0]?.pid
}

describe.each(versions)('a pgbouncer before a PostgreSQL, %s,', (version) => {
  let server: PostgresServer

  beforeAll(async () => {
    server = await startPostgres({ version, fsync: false })
  })

  afterAll(() => server.stop())

  test('lets clients share a connection, each for a transaction', async () => {
    await using pooler = await startPgbouncer(server, { poolSize: 1 })
    const [one, two] = [await connect(pooler.location), await connect(pooler.location)]

    expect(pooler.port).not.toBe(server.port)
    expect(await backendOf(one)).toBe(await backendOf(two))
    await one.query('begin')
    const waiting = backendOf(two)
    const first = await Promise.race([waiting.then(() => 'two'), one.query('select 1').then(() => 'one')])
    await one.query('commit')

    expect(first).toBe('one')
    expect(await waiting).toBe(await backendOf(one))
    await Promise.all([one.end(), two.end()])
  })

  test('asks for the password of the server, and leaves nothing behind', async () => {
    const pooler = await startPgbouncer(server)

    await expect(connect(pooler.location.replace(pooler.address.password, 'guess'))).rejects.toThrow('SASL')
    await pooler.stop()

    expect(pooler.pid).toBeUndefined()
    await expect(access(pooler.folder)).rejects.toThrow('ENOENT')
    await expect(connect(pooler.location)).rejects.toThrow('ECONNREFUSED')
  })

  test('that was killed comes back to its port', async () => {
    await using pooler = await startPgbouncer(server)
    await pooler.kill()
    await expect(connect(pooler.location)).rejects.toThrow('ECONNREFUSED')

    await pooler.restart()

    const client = await connect(pooler.location)
    expect(await backendOf(client)).toBeTypeOf('number')
    await client.end()
  })

  test('refuses a setting of a session when a client connects, as it comes', async () => {
    await using pooler = await startPgbouncer(server)

    await expect(connect(`${pooler.location}?options=-c%20search_path%3Dnowhere`)).rejects.toThrow(
      'unsupported startup parameter',
    )
  })
})
