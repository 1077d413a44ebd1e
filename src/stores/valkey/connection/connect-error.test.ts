import { inspect } from 'node:util'
import { describe, expect, test } from 'vitest'
import { EngineError } from '../../../kernel/engine-error.ts'
import { parseLocation } from '../../open/location.ts'
import { asConnectError } from './connect-error.ts'
import type { ValkeyLocation } from '../options/valkey-location.ts'

function at(text: string): ValkeyLocation {
  return parseLocation(text) as ValkeyLocation
}

function withCode(code: string, message = `connect ${code}`): Error {
  return Object.assign(new Error(message), { code })
}

/** What a cluster's client says when no server of the location would do. */
function nobody(lastNodeError: Error): Error {
  return Object.assign(new Error('Failed to refresh slots cache.'), { lastNodeError })
}

describe('a server that cannot be connected to', () => {
  test.each([
    ['ECONNREFUSED', 'valkey://host:1', 'host:1 cannot be reached: connect ECONNREFUSED. Check that it runs there.'],
    ['ENOTFOUND', 'valkey://[::1]:1', '[::1]:1 cannot be reached'],
    ['ECONNRESET', 'valkey://host', 'if it speaks TLS, begin the location with "valkeys://".'],
    ['ECONNRESET', 'valkey-cluster://host', 'if it speaks TLS, add "?tls=true".'],
    [
      'ERR_SSL_WRONG_VERSION_NUMBER',
      'valkeys://host',
      'if it does not speak TLS, begin the location with "valkey://".',
    ],
    ['ECONNRESET', 'valkeys://host', 'if it wants to see a certificate, give valkey.tls.cert and valkey.tls.key.'],
    ['ETIMEDOUT', 'valkey-cluster://host?tls=true', 'if it does not speak TLS, leave out "tls=true".'],
    ['ECONNREFUSED', 'valkey-cluster://a,b', 'a:6379 or any other server of the location cannot be reached'],
  ])('by %s at %s is unavailable', (code, location, part) => {
    const error = asConnectError(at(location), withCode(code))

    expect(error.code).toBe('store_unavailable')
    expect(error.message).toContain(part)
  })

  test.each([
    ['DEPTH_ZERO_SELF_SIGNED_CERT', 'valkey.tls.ca'],
    ['SELF_SIGNED_CERT_IN_CHAIN', 'NODE_EXTRA_CA_CERTS'],
    ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'valkey.tls.ca'],
    ['UNABLE_TO_GET_ISSUER_CERT_LOCALLY', 'valkey.tls.ca'],
    ['CERT_HAS_EXPIRED', 'new one'],
    ['CERT_NOT_YET_VALID', 'clocks'],
    ['ERR_TLS_CERT_ALTNAME_INVALID', 'valkey.tls.servername'],
    ['ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED', 'valkey.tls.cert and valkey.tls.key'],
  ])('because of a certificate (%s) is a setting to be changed', (code, part) => {
    const error = asConnectError(at('valkeys://host'), withCode(code))

    expect([error.code, error.detail.field]).toEqual(['invalid_configuration', 'location'])
    expect(error.message).toContain(part)
    expect(error.message).toContain('host:6379')
  })

  test('because it refuses is reported as any refusal, with the reply of the last server of a cluster', () => {
    const wrong = Object.assign(new Error('WRONGPASS invalid username-password pair'), {
      command: { name: 'auth', args: ['hush'] },
    })
    for (const error of [wrong, nobody(wrong)]) {
      const told = asConnectError(at('valkey-cluster://user:hush@host'), error)

      expect(told.code).toBe('invalid_configuration')
      expect(told.message).toContain('does not accept the user and the password')
      expect(inspect(told, { depth: null })).not.toContain('hush')
    }
  })

  test('because it is no cluster is reported with the location of a single server', () => {
    const error = asConnectError(
      at('valkey-cluster://host'),
      nobody(new Error('ERR This instance has cluster support disabled')),
    )

    expect(error.code).toBe('invalid_configuration')
    expect(error.message).toContain('begin the location with "valkey://"')
  })

  test('at any of its addresses is reported with all of them', () => {
    const reasons = [
      withCode('ECONNREFUSED', 'connect ECONNREFUSED ::1:1'),
      withCode('ECONNREFUSED', 'connect to 127.0.0.1:1'),
    ]
    const error = asConnectError(at('valkey://localhost:1'), new AggregateError(reasons))

    expect(error.message).toContain('cannot be reached: connect ECONNREFUSED ::1:1, connect to 127.0.0.1:1. Check')
  })

  test('because of an engine error returns that error', () => {
    const known = new EngineError('fabric_closed')
    expect(asConnectError(at('valkey://host'), known)).toBe(known)
  })
})
