import { describe, expect, test } from 'vitest'
import type { EngineError } from '../../../kernel/engine-error.ts'
import { parseLocation } from '../../open/location.ts'
import { shownLocation, shownServer } from './postgres-location.ts'
import type { PostgresLocation } from './postgres-location.ts'

function parse(text: string): PostgresLocation {
  const location = parseLocation(text)
  if (location.kind !== 'postgres') throw new Error(`${text} is of kind ${location.kind}`)
  return location
}

function messageFor(text: string): string {
  try {
    parse(text)
  } catch (error) {
    const { code, detail } = error as EngineError
    expect([code, detail.field]).toEqual(['invalid_configuration', 'location'])
    return detail.message ?? ''
  }
  throw new Error(`${text} was accepted`)
}

describe('the location of a Postgres store', () => {
  test.each(['postgres://localhost', 'postgresql://localhost'])(
    '%s has defaults for everything but the host',
    (text) => {
      expect(parse(text)).toEqual({
        kind: 'postgres',
        host: 'localhost',
        port: 5432,
        database: undefined,
        username: undefined,
        password: undefined,
        schema: 'flowfabric',
        executionPartitions: undefined,
        isPrepared: true,
        tls: 'disable',
        applicationName: undefined,
        connectTimeoutMs: undefined,
      })
    },
  )

  test.each([
    ['postgres://localhost', 'localhost', 5432],
    ['postgres://db.example.com:1/shop', 'db.example.com', 1],
    ['postgres://10.0.0.7:65535', '10.0.0.7', 65_535],
    ['postgres://[::1]', '::1', 5432],
    ['postgres://[2001:db8::17]:5433/shop', '2001:db8::17', 5433],
    ['postgres:///shop?host=/run/postgresql', '/run/postgresql', 5432],
    ['postgres://user:secret@/shop?host=/cloud/a:b:c', '/cloud/a:b:c', 5432],
    ['postgres://:5433/shop?host=%2Frun%2Fpostgresql', '/run/postgresql', 5433],
    ['postgres://%2Frun%2Fpostgresql/shop', '/run/postgresql', 5432],
    ['postgres://%2frun%2Fpostgresql:5433', '/run/postgresql', 5433],
    ['postgres:///shop?host=db.example.com', 'db.example.com', 5432],
    ['postgres://localhost:5433/shop?host=/run/postgresql', '/run/postgresql', 5433],
  ])('%s names its server, or the folder of its socket', (text, host, port) => {
    expect(parse(text)).toMatchObject({ host, port })
  })

  test.each([
    ['postgres://host', undefined, undefined],
    ['postgres://user:secret@host', 'user', 'secret'],
    ['postgres://user@host', 'user', undefined],
    ['postgres://user:@host', 'user', undefined],
    ['postgres://:secret@host', undefined, 'secret'],
    ['postgres://us%40er:p%3Aa%2Fs%3Fs%23%25@host', 'us@er', 'p:a/s?s#%'],
    ['postgres://user:a:b@c@host', 'user', 'a:b@c'],
    ['postgres://user:p%C3%A4ss%20wort@host/shop', 'user', 'päss wort'],
  ])('%s names its user and password, percent-encoded where they must be', (text, username, password) => {
    expect(parse(text)).toMatchObject({ username, password })
  })

  test.each([
    ['postgres://host/', undefined],
    ['postgres://host/shop', 'shop'],
    ['postgres://host:5432/Shop-2?schema=a', 'Shop-2'],
    ['postgres://host/a%2Fb%23c%20d', 'a/b#c d'],
    [`postgres://host/${'a'.repeat(63)}`, 'a'.repeat(63)],
  ])('%s names its database', (text, database) => {
    expect(parse(text).database).toBe(database)
  })

  test.each([
    ['postgres://host?schema=shop', { schema: 'shop' }],
    ['postgres://host?schema=_2', { schema: '_2' }],
    [`postgres://host?schema=${'a'.repeat(48)}`, { schema: 'a'.repeat(48) }],
    ['postgres://host/db?partitions=16&schema=shop', { schema: 'shop', executionPartitions: 16 }],
    ['postgres://host?partitions=1', { executionPartitions: 1 }],
    ['postgres://host?partitions=64', { executionPartitions: 64 }],
    ['postgres://host?prepare=false', { isPrepared: false }],
    ['postgres://host?prepare=true', { isPrepared: true }],
    ['postgres://host?sslmode=disable', { tls: 'disable' }],
    ['postgres://host?sslmode=require', { tls: 'require' }],
    ['postgres://host?sslmode=verify-ca', { tls: 'verify-ca' }],
    ['postgres://host?sslmode=verify-full', { tls: 'verify-full' }],
    ['postgres://host?application_name=my%20shop', { applicationName: 'my shop' }],
    ['postgres://host?connect_timeout=3', { connectTimeoutMs: 3_000 }],
    ['postgres://host?', { schema: 'flowfabric', executionPartitions: undefined }],
  ])('%s has its settings behind the question mark', (text, expected) => {
    expect(parse(text)).toMatchObject(expected)
  })

  test.each([
    ['postgres:', '"//" follows'],
    ['postgres:localhost:5432', '"//" follows'],
    ['postgres://', 'or the folder of a socket'],
    ['postgres:///shop', 'or the folder of a socket'],
    ['postgres://:5432', 'a host and a port'],
    ['postgres://host:0', 'a host and a port'],
    ['postgres://host:65536', 'a host and a port'],
    ['postgres://host:port', 'a host and a port'],
    ['postgres://::1:5432', 'a host and a port'],
    ['postgres://[::1', 'a host and a port'],
    ['postgres://ho st', 'a host and a port'],
    ['postgres://ho%20st', 'a host and a port'],
    ['postgres://%2Fho%00st', '"host" is the name'],
    ['postgres:///shop?host=', '"host" is the name'],
    ['postgres:///shop?host=a,b', '"host" is the name'],
    ['postgres:///shop?host=run/postgresql', '"host" is the name'],
    ['postgres://a,b/shop', 'always leads to the primary'],
    ['postgres://a:1,b:2/shop', 'always leads to the primary'],
    ['postgres://host/a/b', 'the name of a database'],
    ['postgres://host/a#b', 'the name of a database'],
    ['postgres://host/%00', 'the name of a database'],
    [`postgres://host/${'a'.repeat(64)}`, 'at most 63 bytes'],
    [`postgres://host/${'%C3%A4'.repeat(32)}`, 'at most 63 bytes'],
    ['postgres://host?schema=', '"schema" is 1 to 48'],
    ['postgres://host?schema=Shop', '"schema" is 1 to 48'],
    ['postgres://host?schema=my-shop', '"schema" is 1 to 48'],
    ['postgres://host?schema=2', '"schema" is 1 to 48'],
    ['postgres://host?schema=pg_shop', 'not with "pg_"'],
    [`postgres://host?schema=${'a'.repeat(49)}`, '"schema" is 1 to 48'],
    ['postgres://host?partitions=0', 'from 1 to 64'],
    ['postgres://host?partitions=65', 'from 1 to 64'],
    ['postgres://host?partitions=four', 'from 1 to 64'],
    ['postgres://host?prepare=no', '"prepare" is "true" or "false"'],
    ['postgres://host?sslmode=on', '"disable", "require", "verify-ca", "verify-full"'],
    ['postgres://host?sslmode=prefer', 'With "prefer" an attacker in between'],
    ['postgres://host?sslmode=allow', 'With "allow" an attacker in between'],
    ['postgres://host?application_name=', '"application_name" is 1 to 63'],
    ['postgres://host?application_name=%C3%A4', '"application_name" is 1 to 63'],
    ['postgres://host?connect_timeout=0', 'a whole number of seconds from 1 to 600'],
    ['postgres://host?connect_timeout=601', 'from 1 to 600'],
    ['postgres://host?timeout=5', 'there are schema, partitions, prepare, sslmode, host'],
    ['postgres://host?toString=5', 'there are schema, partitions'],
    ['postgres://host?schema=a&schema=b', '"schema" is given more than once'],
    ['postgres://user:50%@host', '"%25" for "%"'],
    ['postgres://user:pa/ss@host', '"%2F"'],
    ['postgres://user:pa?ss@host', '"%3F"'],
  ])('%s is refused with what is wrong with it', (text, part) => {
    expect(messageFor(text)).toContain(part)
  })

  test.each([
    ['pgbouncer=true', '"prepare=false"'],
    ['statement_cache_size=0', '"prepare=false"'],
    ['connection_limit=5', 'postgres.connections'],
    ['options=-csearch_path%3Dshop', 'alter role'],
    ['search_path=shop', '"schema=…"'],
    ['ssl=true', '"sslmode=require"'],
    ['sslrootcert=/etc/ca.pem', 'postgres.tls.ca'],
    ['sslcert=/etc/client.pem', 'postgres.tls.cert'],
    ['sslkey=/etc/client.key', 'postgres.tls.key'],
    ['channel_binding=require', '"sslmode=verify-full"'],
    ['target_session_attrs=read-write', 'name the primary'],
    ['user=me', 'in front of the host'],
    ['password=hush', 'in front of the host'],
  ])('%s, which other programs know, is refused with what to do here instead', (setting, part) => {
    const message = messageFor(`postgres://host/shop?sslmode=require&${setting}`)

    expect(message).toContain(part)
    expect(message).toContain(`"${setting.split('=')[0]!}" is not a setting`)
    expect(message).not.toContain('hush')
  })

  test.each([
    'postgres://user:hush@',
    'postgres://user:hush@host:port',
    'postgres://user:hush@ho st',
    'postgres://user:hush@a,b',
    'postgres://user:hush@host/hush/hush',
    'postgres://user:hush@host?hush=1',
    'postgres://user:hush@host?schema={hush}',
    'postgres://user:hush@host?partitions=hush',
    'postgres://user:hush@host?sslmode=hush',
    'postgres://user:hush@host?prepare=hush',
    'postgres://user:hush@host?connect_timeout=hush',
    'postgres://user:hush@host?application_name=hush%C3%A4',
    'postgres://user:hush@?host=hush/hush',
    'postgres://user:hush%@host',
    'postgres://user:1/hush@host',
    'postgres://user:1?hush@host',
    'postgres://user:1?hush',
    'postgres://user:1/hush/',
    'postgres://user:hush',
    'postgres:user:hush@host',
    'postgre://user:hush@host',
  ])('%s is refused without repeating any of it, since it may be the password', (text) => {
    expect(messageFor(text)).not.toContain('hush')
  })
})

describe('a location as it is shown', () => {
  test.each([
    ['postgres://user:secret@localhost', 'postgres://localhost:5432, schema flowfabric'],
    ['postgresql://user:secret@localhost:5433/shop?schema=a', 'postgres://localhost:5433/shop, schema a'],
    ['postgres://[::1]/my%20shop', 'postgres://[::1]:5432/my%20shop, schema flowfabric'],
    ['postgres://host/shop?sslmode=require', 'postgres://host:5432/shop?sslmode=require, schema flowfabric'],
    ['postgres://u:secret@/shop?host=/run/pg', 'postgres:///shop?host=/run/pg, schema flowfabric'],
    ['postgres://:5433/shop?host=/run/pg', 'postgres://:5433/shop?host=/run/pg, schema flowfabric'],
  ])('%s is %s, without user and password', (text, shown) => {
    expect(shownLocation(parse(text))).toBe(shown)
  })

  test.each([
    ['postgres://localhost/shop', 'localhost:5432'],
    ['postgres://[::1]:5433/shop', '[::1]:5433'],
    ['postgres:///shop?host=/run/postgresql/', '/run/postgresql/.s.PGSQL.5432'],
  ])('%s leads to %s', (text, shown) => {
    expect(shownServer(parse(text))).toBe(shown)
  })
})
