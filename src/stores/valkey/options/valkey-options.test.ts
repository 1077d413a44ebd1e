import { expect, test } from 'vitest'
import type { EngineError } from '../../../kernel/engine-error.ts'
import { parseLocation } from '../../open/location.ts'
import type { ValkeyLocation } from './valkey-location.ts'
import { checkValkeyOptions } from './valkey-options.ts'

function refusalOf(options: unknown, location = 'valkey://host'): EngineError {
  try {
    checkValkeyOptions(options as object, parseLocation(location) as ValkeyLocation)
  } catch (error) {
    return error as EngineError
  }
  throw new Error('the settings were accepted')
}

test.each([
  [{}, 'valkey://host'],
  [{ username: 'user', password: 'hush', requestTimeoutMs: 250, loadFunctions: false }, 'valkey://host'],
  [{ username: undefined, password: undefined, tls: undefined }, 'valkey://user:hush@host'],
  [{ password: 'hush' }, 'valkey://user@host'],
  [{ username: 'user', password: 'hush' }, 'valkey://user:hush@host'],
  [{ tls: { ca: 'text', servername: 'db' } }, 'valkeys://host'],
  [{ tls: {} }, 'valkey-cluster://host?tls=true'],
])('the settings %j go with %s', (options, location) => {
  expect(() => checkValkeyOptions(options, parseLocation(location) as ValkeyLocation)).not.toThrow()
})

test.each<[unknown, string, string]>([
  [
    { pasword: 'hush' },
    'valkey',
    'unknown key "pasword"; the known ones are username, password, tls, requestTimeoutMs, sentinelPassword, loadFunctions',
  ],
  [{ toString: 'hush' }, 'valkey', 'unknown key "toString"'],
  [{ username: 5 }, 'valkey.username', 'a text'],
  [{ password: '' }, 'valkey.password', 'not empty'],
  [{ password: ['hush'] }, 'valkey.password', 'a text'],
  [{ tls: true }, 'valkey.tls', 'an object'],
  [{ requestTimeoutMs: 0 }, 'valkey.requestTimeoutMs', 'above 0'],
  [{ requestTimeoutMs: '5s' }, 'valkey.requestTimeoutMs', 'milliseconds'],
  [{ requestTimeoutMs: Number.NaN }, 'valkey.requestTimeoutMs', 'above 0'],
  [{ requestTimeoutMs: Number.MAX_SAFE_INTEGER }, 'valkey.requestTimeoutMs', 'at most 86400000'],
  [{ loadFunctions: 'no' }, 'valkey.loadFunctions', 'true or false'],
  ['hush', 'valkey', 'an object'],
  [null, 'valkey', 'an object'],
])('%j is refused by name, without its value', (options, field, part) => {
  const { code, detail } = refusalOf(options)

  expect([code, detail.field]).toEqual(['invalid_configuration', field])
  expect(detail.message).toContain(part)
  expect(detail.message).not.toContain('hush')
})

test.each([
  ['valkey://host', 'begin it with "valkeys://"'],
  ['valkey-cluster://host', 'add "?tls=true"'],
])('certificates for %s, which is not encrypted, are refused', (location, part) => {
  expect(refusalOf({ tls: { ca: 'text' } }, location).detail.message).toContain(part)
})

test.each([[{ username: 'other' }], [{ password: 'other' }]])(
  '%j beside another one in the location is refused',
  (options) => {
    const { detail } = refusalOf(options, 'valkey://user:hush@host')

    expect(detail.message).toContain('leave one of them out')
    expect(detail.message).not.toContain('hush')
  },
)
