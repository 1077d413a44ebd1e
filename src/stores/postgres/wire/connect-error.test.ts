import { inspect } from 'node:util'
import { describe, expect, test } from 'vitest'
import { EngineError } from '../../../kernel/engine-error.ts'
import { parseLocation } from '../../open/location.ts'
import { asConnectError } from './connect-error.ts'
import type { PostgresLocation } from '../options/postgres-location.ts'

function at(text: string): PostgresLocation {
  return parseLocation(text) as PostgresLocation
}

function withCode(code: string, message = `connect ${code}`): Error {
  return Object.assign(new Error(message), { code })
}

const HERE = 'postgres://me:hush@host/shop'

describe('a server that cannot be connected to', () => {
  test.each([
    [withCode('ECONNREFUSED'), HERE, 'host:5432 cannot be reached: connect ECONNREFUSED. Check that it runs there.'],
    [withCode('ENOTFOUND', 'getaddrinfo ENOTFOUND host'), HERE, 'ENOTFOUND host. Check the name.'],
    [withCode('EHOSTUNREACH'), 'postgres://[::1]:1', '[::1]:1 cannot be reached'],
    [withCode('ENOENT'), 'postgres:///a?host=/run/pg', '/run/pg/.s.PGSQL.5432 cannot be reached'],
    [withCode('ENOENT'), 'postgres:///a?host=/run/pg', 'Check the folder and the port'],
    [withCode('EACCES'), 'postgres:///a?host=/run/pg', 'Let this process into the folder'],
    [new Error('Connection terminated unexpectedly'), HERE, 'it closed the connection. Check that it is PostgreSQL'],
    [new Error('timeout expired'), HERE, 'it did not answer in time. Check that it is PostgreSQL'],
    [new Error('There was an error establishing an SSL connection'), HERE, 'does not answer as PostgreSQL does'],
    [withCode('57P03', 'the database system is starting up'), HERE, 'starting up'],
    [withCode('53300', 'sorry, too many clients already'), HERE, 'max_connections'],
    [withCode('08P01', 'server login has been failing'), HERE, 'server login has been failing'],
  ])('by %s is unavailable', (error, location, part) => {
    const told = asConnectError(at(location), error)

    expect(told).toMatchObject({ code: 'store_unavailable', isRetryable: true })
    expect(told.message).toContain(part)
  })

  test.each([
    ['28P01', 'password authentication failed for user "me"', 'does not accept the user and the password'],
    ['28000', 'role "me" does not exist', 'does not know the user'],
    ['28000', 'role "me" is not permitted to log in', '"alter role" it with "login"'],
    [
      '28000',
      'no pg_hba.conf entry for host "10.0.0.7", user "me", database "shop", no encryption',
      '"sslmode=require"',
    ],
    ['28000', 'no pg_hba.conf entry for host "10.0.0.7", user "me", database "shop", SSL off', '"sslmode=require"'],
    ['28000', 'pg_hba.conf rejects connection for host "10.0.0.7", user "me", database "shop"', 'machine: add a line'],
    ['28000', 'connection requires a valid client certificate', 'postgres.tls.cert and postgres.tls.key'],
    ['28000', 'Peer authentication failed for user "me"', 'user of this process'],
    ['28000', 'something new about "me"', 'does not let the user in: something new about "…".'],
    ['3D000', 'database "shop" does not exist', 'no database "shop": create it'],
    ['42501', 'permission denied for database "shop"', '"grant connect on database"'],
    ['08P01', 'SASL authentication failed', 'does not accept the user and the password'],
    ['08P01', 'no such user: "me"', 'does not accept the user and the password'],
    ['08P01', 'database "shop" does not exist', 'no database "shop": create it'],
    ['08P01', 'no such database: shop', 'no database "shop": create it'],
    ['08P01', 'unsupported startup parameter: options', 'does not take "options": add it to its ignore_startup'],
  ])('because of %s, "%s", is a setting to be changed', (code, text, part) => {
    const told = asConnectError(at(HERE), withCode(code, text))

    expect([told.code, told.detail.field]).toEqual(['invalid_configuration', 'location'])
    expect(told.message).toContain(part)
    expect(inspect(told, { depth: null, showHidden: true })).not.toContain('"me"')
  })

  test('in a database that was not named explains that the name of the user was taken', () => {
    const told = asConnectError(at('postgres://me@host'), withCode('3D000', 'database "me" does not exist'))

    expect(told.message).toContain('name one in the location, as in "/shop"')
    expect(inspect(told, { depth: null, showHidden: true })).not.toContain('"me"')
  })

  test('over TLS that pg_hba.conf does not list is not advised to use TLS', () => {
    const refusal = withCode(
      '28000',
      'no pg_hba.conf entry for host "10.0.0.7", user "me", database "a", SSL encryption',
    )

    expect(asConnectError(at(`${HERE}?sslmode=require`), refusal).message).toContain('machine: add a line to it.')
  })

  test.each([
    ['SASL: SCRAM-SERVER-FIRST-MESSAGE: client password must be a string', 'asks for a password'],
    ['The server does not support SSL connections', 'host:5432 does not support TLS: leave "sslmode" out'],
  ])('that `pg` reports as "%s" names the setting to change', (text, part) => {
    const told = asConnectError(at(HERE), new Error(text))

    expect([told.code, told.detail.field]).toEqual(['invalid_configuration', 'location'])
    expect(told.message).toContain(part)
  })

  test.each([
    ['DEPTH_ZERO_SELF_SIGNED_CERT', 'postgres.tls.ca'],
    ['SELF_SIGNED_CERT_IN_CHAIN', 'NODE_EXTRA_CA_CERTS'],
    ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'postgres.tls.ca'],
    ['UNABLE_TO_GET_ISSUER_CERT_LOCALLY', 'postgres.tls.ca'],
    ['CERT_HAS_EXPIRED', 'new one'],
    ['CERT_NOT_YET_VALID', 'clocks'],
    ['ERR_TLS_CERT_ALTNAME_INVALID', 'postgres.tls.servername'],
    ['ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED', 'postgres.tls.cert and postgres.tls.key'],
  ])('because of a certificate (%s) is a setting to be changed', (code, part) => {
    const told = asConnectError(at(`${HERE}?sslmode=verify-full`), withCode(code))

    expect([told.code, told.detail.field]).toEqual(['invalid_configuration', 'location'])
    expect(told.message).toContain(part)
  })

  test('at all of its addresses names all of them', () => {
    const reasons = [
      withCode('ECONNREFUSED', 'connect ECONNREFUSED ::1:1'),
      withCode('ECONNREFUSED', 'and 127.0.0.1:1'),
    ]
    const told = asConnectError(at('postgres://localhost:1'), new AggregateError(reasons))

    expect(told.message).toContain('cannot be reached: connect ECONNREFUSED ::1:1, and 127.0.0.1:1.')
  })

  test('with an engine error is thrown unchanged', () => {
    const known = new EngineError('fabric_closed')
    expect(asConnectError(at(HERE), known)).toBe(known)
  })
})
