import { describe, expect, test } from 'vitest'
import type { EngineError } from '../../../kernel/engine-error.ts'
import { parseLocation } from '../../open/location.ts'
import type { PostgresLocation } from './postgres-location.ts'
import { checkPostgresOptions, listenLocation } from './postgres-options.ts'

function at(location: string): PostgresLocation {
  return parseLocation(location) as PostgresLocation
}

function refusalOf(options: unknown, location = 'postgres://host'): EngineError {
  try {
    checkPostgresOptions(options as object, at(location))
  } catch (error) {
    return error as EngineError
  }
  throw new Error('the settings were accepted')
}

test.each([
  [{}, 'postgres://host'],
  [{ username: 'user', password: 'hush', requestTimeoutMs: 250, connections: 2 }, 'postgres://host'],
  [{ connections: 64 }, 'postgres://host'],
  [{ username: undefined, password: undefined, tls: undefined, listen: undefined }, 'postgres://user:hush@host'],
  [{ password: 'hush' }, 'postgres://user@host'],
  [{ username: 'user', password: 'hush' }, 'postgres://user:hush@host'],
  [{ tls: { ca: 'text', servername: 'db' } }, 'postgres://host?sslmode=require'],
  [{ tls: {} }, 'postgres://host?sslmode=verify-full'],
  [{ tls: {}, listen: 'postgres://direct?sslmode=require' }, 'postgres://pooler?prepare=false'],
  [{ listen: false as const }, 'postgres://pooler?prepare=false'],
  [{ listen: 'postgresql://direct:5433/shop' }, 'postgres://pooler:6432/shop'],
])('the settings %j go with %s', (options, location) => {
  expect(() => checkPostgresOptions(options, at(location))).not.toThrow()
})

test.each<[unknown, string, string]>([
  [{ pasword: 'hush' }, 'postgres', 'username, password, tls, requestTimeoutMs, connections, listen'],
  [{ toString: 'hush' }, 'postgres', 'unknown key "toString"'],
  [{ username: 5 }, 'postgres.username', 'a text'],
  [{ password: '' }, 'postgres.password', 'not empty'],
  [{ password: ['hush'] }, 'postgres.password', 'a text'],
  [{ tls: true }, 'postgres.tls', 'an object'],
  [{ requestTimeoutMs: 0 }, 'postgres.requestTimeoutMs', 'above 0'],
  [{ requestTimeoutMs: '5s' }, 'postgres.requestTimeoutMs', 'milliseconds'],
  [{ requestTimeoutMs: Number.NaN }, 'postgres.requestTimeoutMs', 'above 0'],
  [{ requestTimeoutMs: Number.MAX_SAFE_INTEGER }, 'postgres.requestTimeoutMs', 'at most 86400000'],
  [{ connections: 1 }, 'postgres.connections', 'from 2 to 64'],
  [{ connections: 65 }, 'postgres.connections', 'from 2 to 64'],
  [{ connections: 2.5 }, 'postgres.connections', 'a whole number'],
  [{ connections: '4' }, 'postgres.connections', 'a whole number'],
  [{ listen: true }, 'postgres.listen', 'a location'],
  [{ listen: '' }, 'postgres.listen', 'a location'],
  [{ listen: 'host:5432 hush' }, 'postgres.listen', 'a location'],
  [{ listen: 'valkey://user:hush@host' }, 'postgres.listen', 'a location'],
  [{ listen: 'postgres://user:hush@ho st' }, 'postgres.listen', 'a host and a port'],
  [{ listen: 'postgres://user:hush@host?schema=other' }, 'postgres.listen', 'another schema'],
  [{ listen: 'postgres://user:hush@host/db?partitions=2&schema=other' }, 'postgres.listen', 'another schema'],
  ['hush', 'postgres', 'an object'],
  [null, 'postgres', 'an object'],
])('%j is refused by name, without its value', (options, field, part) => {
  const { code, detail } = refusalOf(options)

  expect([code, detail.field]).toEqual(['invalid_configuration', field])
  expect(detail.message).toContain(part)
  expect(detail.message).not.toContain('hush')
})

test.each([{ tls: { ca: 'text' } }, { tls: { ca: 'text' }, listen: false }, { tls: {}, listen: 'postgres://direct' }])(
  'certificates for connections that are not encrypted are refused: %j',
  (options) => {
    const { detail } = refusalOf(options, 'postgres://host')

    expect(detail.field).toBe('postgres.tls')
    expect(detail.message).toContain('add "sslmode=verify-full"')
  },
)

test.each([[{ username: 'other' }], [{ password: 'other' }]])(
  '%j beside another one in the location is refused',
  (options) => {
    const { detail } = refusalOf(options, 'postgres://user:hush@host')

    expect(detail.message).toContain('leave one of them out')
    expect(detail.message).not.toContain('hush')
  },
)

describe('the connection that listens', () => {
  const pooler = at('postgres://user:hush@pooler:6432/shop?schema=mine&prepare=false&sslmode=require')

  test('goes where all others go unless another location is given, and nowhere if nothing listens', () => {
    expect(listenLocation({}, pooler)).toEqual(pooler)
    expect(listenLocation({ listen: false }, pooler)).toBe(false)
  })

  test('takes user and password from the settings where the location has none', () => {
    const access = { username: 'user', password: 'hush' }

    expect(listenLocation(access, at('postgres://host'))).toMatchObject(access)
    expect(listenLocation({ ...access, listen: 'postgres://direct' }, at('postgres://host'))).toMatchObject(access)
  })

  test('is that of the same store though it takes another way', () => {
    expect(listenLocation({ listen: 'postgres://direct' }, pooler)).toEqual({
      ...pooler,
      host: 'direct',
      port: 5432,
      isPrepared: true,
      tls: 'disable',
    })
    expect(listenLocation({ listen: 'postgres://other:word@direct/real?sslmode=verify-full' }, pooler)).toMatchObject({
      host: 'direct',
      database: 'real',
      username: 'other',
      password: 'word',
      schema: 'mine',
      tls: 'verify-full',
    })
    expect(listenLocation({ listen: 'postgres://direct?schema=mine' }, pooler)).toMatchObject({ schema: 'mine' })
  })
})
