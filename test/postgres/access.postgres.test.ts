import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startPgbouncer } from '../servers/pgbouncer.ts'
import type { Pgbouncer } from '../servers/pgbouncer.ts'
import { startPostgres } from '../servers/postgres-server.ts'
import type { PostgresServer } from '../servers/postgres-server.ts'
import { lifeOn, refusalOf } from '../valkey/fabrics.ts'

const PASSWORD = 'p@ss:w/rd? 100% #1'
const ENCODED = encodeURIComponent(PASSWORD)

describe.each(['installed', 'newest'] as const)('a store on a server (%s)', (version) => {
  let server: PostgresServer

  beforeAll(async () => {
    server = await startPostgres({ version, fsync: false })
    await server.query(`create role "fabric:1" login password '${PASSWORD}'`)
    await server.query(`create database "shop/2" owner "fabric:1"`)
  })

  afterAll(() => server.stop())

  test('is used by a user from the location, from the settings, or one part from each', async () => {
    const place = `127.0.0.1:${server.port}/shop%2F2`
    const both = { username: 'fabric:1', password: PASSWORD }

    expect(await lifeOn(`postgres://fabric%3A1:${ENCODED}@${place}`)).toBe('Hello, Ada')
    expect(await lifeOn(`postgresql://${place}`, { postgres: both })).toBe('Hello, Ada')
    expect(await lifeOn(`postgres://fabric%3A1@${place}`, { postgres: { password: PASSWORD } })).toBe('Hello, Ada')
  })

  test('is used through a socket', async () => {
    const location = `postgres://fabric%3A1:${ENCODED}@:${server.port}/shop%2F2?host=${server.folder}`

    expect(await lifeOn(location)).toBe('Hello, Ada')
    expect(await lifeOn(`${location}&prepare=false&schema=other`)).toBe('Hello, Ada')
  })

  test('shares a database with other stores, each in a schema of its own', async () => {
    const location = `postgres://fabric%3A1:${ENCODED}@127.0.0.1:${server.port}/shop%2F2`

    expect(await lifeOn(`${location}?schema=first`)).toBe('Hello, Ada')
    expect(await lifeOn(`${location}?schema=second&partitions=1`)).toBe('Hello, Ada')
  })
})

describe('a store behind a pooler', () => {
  let server: PostgresServer
  let pooler: Pgbouncer

  beforeAll(async () => {
    server = await startPostgres({ fsync: false })
    pooler = await startPgbouncer(server)
  })

  afterAll(async () => {
    await pooler.stop()
    await server.stop()
  })

  test('is set up and used through it, and listens elsewhere or not at all', async () => {
    const location = `${pooler.location}?prepare=false`

    expect(await lifeOn(location, { postgres: { listen: server.location } })).toBe('Hello, Ada')
    expect(await lifeOn(`${location}&schema=other`, { postgres: { listen: false } })).toBe('Hello, Ada')
  })

  test('is refused by the pooler as by a server', async () => {
    const wrong = pooler.location.replace(/:[^:@]*@/, ':barley@')
    const nowhere = pooler.location.replace(/\/postgres$/, '/nowhere')

    for (const [location, part] of [
      [wrong, 'does not accept the user and the password'],
      [nowhere, 'no database "nowhere"'],
      [`${pooler.location}?sslmode=require`, 'does not support TLS'],
    ] as const) {
      const error = await refusalOf(location)
      expect([error.code, error.detail.field]).toEqual(['invalid_configuration', 'location'])
      expect(error.message).toContain(part)
    }
  })
})
