import { describe, expect, test } from 'vitest'
import type { EngineError } from '../../../kernel/engine-error.ts'
import { parseLocation } from '../../open/location.ts'
import { shownLocation } from './valkey-location.ts'
import type { ValkeyLocation } from './valkey-location.ts'

function parse(text: string): ValkeyLocation {
  const location = parseLocation(text)
  if (location.kind !== 'valkey') throw new Error(`${text} is of kind ${location.kind}`)
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

describe('the location of a Valkey store', () => {
  test('has defaults for everything but the host', () => {
    expect(parse('valkey://localhost')).toEqual({
      kind: 'valkey',
      servers: [{ host: 'localhost', port: 6379 }],
      isCluster: false,
      isTls: false,
      username: undefined,
      password: undefined,
      database: 0,
      prefix: 'ff',
      executionPartitions: undefined,
    })
  })

  test.each([
    ['valkey://host', { isCluster: false, isTls: false }],
    ['valkeys://host', { isCluster: false, isTls: true }],
    ['valkey-cluster://host', { isCluster: true, isTls: false }],
    ['valkey-cluster://host?tls=true', { isCluster: true, isTls: true }],
    ['valkey-cluster://host?tls=false', { isCluster: true, isTls: false }],
    ['redis://host', { isCluster: false, isTls: false }],
    ['rediss://host', { isCluster: false, isTls: true }],
  ])('%s says by its scheme how the server is spoken to', (text, expected) => {
    expect(parse(text)).toMatchObject(expected)
  })

  test('names sentinels, what they watch, and the database', () => {
    expect(parse('valkey-sentinel://a,b:1/main/3?tls=true&prefix=shop')).toMatchObject({
      servers: [
        { host: 'a', port: 26_379 },
        { host: 'b', port: 1 },
      ],
      watchedName: 'main',
      database: 3,
      isTls: true,
      isCluster: false,
      prefix: 'shop',
    })
    expect(shownLocation(parse('valkey-sentinel://user:hush@a,b:1/main/3?tls=true'))).toBe(
      'valkey-sentinel://a:26379,b:1/main/3?tls=true, prefix ff',
    )
    expect(messageFor('valkey-sentinel://a')).toContain('the name of what they watch')
    expect(messageFor('valkey-sentinel://a/ma in')).toContain('the name of what they watch')
  })

  test.each([
    ['valkey://localhost', [{ host: 'localhost', port: 6379 }]],
    ['valkey://db.example.com:1', [{ host: 'db.example.com', port: 1 }]],
    ['valkey://10.0.0.7:65535', [{ host: '10.0.0.7', port: 65_535 }]],
    ['valkey://[::1]', [{ host: '::1', port: 6379 }]],
    ['valkey://[2001:db8::17]:6380', [{ host: '2001:db8::17', port: 6380 }]],
    ['valkey://[::ffff:10.0.0.7]:6380', [{ host: '::ffff:10.0.0.7', port: 6380 }]],
    [
      'valkey-cluster://a,b:7001,[::1]:7002',
      [
        { host: 'a', port: 6379 },
        { host: 'b', port: 7001 },
        { host: '::1', port: 7002 },
      ],
    ],
  ])('%s names its servers', (text, servers) => {
    expect(parse(text).servers).toEqual(servers)
  })

  test.each([
    ['valkey://host', undefined, undefined],
    ['valkey://:secret@host', undefined, 'secret'],
    ['valkey://user:secret@host', 'user', 'secret'],
    ['valkey://user@host', 'user', undefined],
    ['valkey://user:@host', 'user', undefined],
    ['valkey://us%40er:p%3Aa%2Fs%3Fs%23%25@host', 'us@er', 'p:a/s?s#%'],
    ['valkey://:a:b@c@host', undefined, 'a:b@c'],
    ['valkey://:p%C3%A4ss%20wort@host', undefined, 'päss wort'],
    ['valkey-cluster://user:secret@a:7001,b:7002', 'user', 'secret'],
  ])('%s names its user and password, percent-encoded where they must be', (text, username, password) => {
    expect(parse(text)).toMatchObject({ username, password })
  })

  test.each([
    ['valkey://host/', 0],
    ['valkey://host/0', 0],
    ['valkey://host:6379/15', 15],
    ['valkey://host/1023?prefix=a', 1_023],
    ['valkey-cluster://host/0', 0],
  ])('%s names its database', (text, database) => {
    expect(parse(text).database).toBe(database)
  })

  test.each([
    ['valkey://host?prefix=shop', { prefix: 'shop' }],
    ['valkey://host?prefix=team-a:shop_2.x', { prefix: 'team-a:shop_2.x' }],
    ['valkey://host/3?partitions=16&prefix=shop', { prefix: 'shop', executionPartitions: 16 }],
    ['valkey://host?partitions=1', { executionPartitions: 1 }],
    ['valkey-cluster://host?partitions=1024', { executionPartitions: 1_024 }],
    ['valkey://host?', { prefix: 'ff', executionPartitions: undefined }],
  ])('%s has its settings behind the question mark', (text, expected) => {
    expect(parse(text)).toMatchObject(expected)
  })

  test.each([
    ['valkey:', '"//" follows'],
    ['valkey:localhost:6379', '"//" follows'],
    ['valkey://', 'a host and a port'],
    ['valkey://:6379', 'a host and a port'],
    ['valkey://host:0', 'a host and a port'],
    ['valkey://host:65536', 'a host and a port'],
    ['valkey://host:port', 'a host and a port'],
    ['valkey://::1:6379', 'a host and a port'],
    ['valkey://[::1', 'a host and a port'],
    ['valkey://ho st', 'a host and a port'],
    ['valkey://host#1', 'a host and a port'],
    ['valkey-cluster://a,,b', 'a host and a port'],
    ['valkey-cluster://a,', 'a host and a port'],
    ['valkey://a,b', 'valkey-cluster://'],
    ['valkeys://a:1,b:2', 'valkey-cluster://'],
    ['valkey://host/-1', 'from 0 to 1023'],
    ['valkey://host/1024', 'from 0 to 1023'],
    ['valkey://host/zero', 'from 0 to 1023'],
    ['valkey://host/1/2', 'from 0 to 1023'],
    ['valkey-cluster://host/1', 'database 0 only'],
    ['valkey://host?prefix=', '"prefix" is 1 to 64'],
    ['valkey://host?prefix={a}', '"prefix" is 1 to 64'],
    ['valkey://host?prefix=a*', '"prefix" is 1 to 64'],
    [`valkey://host?prefix=${'a'.repeat(65)}`, '"prefix" is 1 to 64'],
    ['valkey://host?partitions=0', 'from 1 to 1024'],
    ['valkey://host?partitions=1025', 'from 1 to 1024'],
    ['valkey://host?partitions=eight', 'from 1 to 1024'],
    ['valkey://host?tls=true', 'there are prefix, partitions.'],
    ['valkey-cluster://host?tls=yes', '"tls" is "true" or "false"'],
    ['valkey-cluster://host?timeout=5', 'there are prefix, partitions, tls.'],
    ['valkey://host?prefix=a&prefix=b', '"prefix" is given more than once'],
    ['valkey://user:50%@host', '"%25" for "%"'],
    ['valkey://user:pa/ss@host', '"%2F"'],
    ['valkey://user:pa?ss@host', '"%3F"'],
  ])('%s is refused with what is wrong with it', (text, part) => {
    expect(messageFor(text)).toContain(part)
  })

  test.each([
    'valkey://user:hush@',
    'valkey://user:hush@host:port',
    'valkey://user:hush@ho st',
    'valkey://user:hush@a,b',
    'valkey://user:hush@host/hush',
    'valkey://user:hush@host?hush=1',
    'valkey://user:hush@host?prefix={hush}',
    'valkey://user:hush@host?partitions=hush',
    'valkey://user:hush%@host',
    'valkey://user:1/hush@host',
    'valkey://user:1?hush@host',
    'valkey://user:1?hush',
    'valkey://user:1/hush',
    'valkey://user:hush',
    'valkey-cluster://user:hush@host/7',
    'valkey-cluster://user:hush@host?tls=hush',
    'valkey:user:hush@host',
    'valkyrie://user:hush@host',
  ])('%s is refused without repeating any of it, since it may be the password', (text) => {
    expect(messageFor(text)).not.toContain('hush')
  })
})

describe('a location as it is shown', () => {
  test.each([
    ['valkey://user:secret@localhost', 'valkey://localhost:6379, prefix ff'],
    ['redis://:secret@localhost:6380/3?prefix=shop', 'valkey://localhost:6380/3, prefix shop'],
    ['rediss://[::1]:6380', 'valkeys://[::1]:6380, prefix ff'],
    ['valkey-cluster://user:secret@a,b:7001', 'valkey-cluster://a:6379,b:7001, prefix ff'],
    ['valkey-cluster://a?tls=true', 'valkey-cluster://a:6379?tls=true, prefix ff'],
  ])('%s is %s, without user and password', (text, shown) => {
    expect(shownLocation(parse(text))).toBe(shown)
  })
})
