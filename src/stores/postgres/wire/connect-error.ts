/** Explains why a connection failed and what to change. No text holds a password or a user. */
import { EngineError } from '../../../kernel/engine-error.ts'
import { asEngineError, causeOf, codeOf, sqlState, textOf } from './postgres-error.ts'
import { isFolder, shownServer } from '../options/postgres-location.ts'
import type { PostgresLocation } from '../options/postgres-location.ts'

/** Advice for certificate errors of Node, by code. */
const certificateAdvice: Readonly<Record<string, string>> = {
  CERT_HAS_EXPIRED: 'Give the server a new one.',
  CERT_NOT_YET_VALID: 'Check the clocks of the server and of this machine.',
  ERR_TLS_CERT_ALTNAME_INVALID:
    'Name the server as its certificate does, set postgres.tls.servername, or ask for "sslmode=verify-ca" only.',
}

const UNTRUSTED =
  /^(DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_VERIFY_LEAF_SIGNATURE|UNABLE_TO_GET_ISSUER_CERT.*)$/
const TRUST_ADVICE =
  'Give the certificate of its authority as postgres.tls.ca, or the name of its file in NODE_EXTRA_CA_CERTS.'
/** TLS alerts by which a server asks for a client certificate. */
const CERTIFICATE_WANTED = /^ERR_SSL_.*ALERT_(CERTIFICATE_REQUIRED|BAD_CERTIFICATE|HANDSHAKE_FAILURE)$/
const CERTIFICATE_ADVICE = 'It asks for a certificate: give postgres.tls.cert and postgres.tls.key.'

/** Messages of `pg`, which have no code. */
const NO_PASSWORD = /client password must be/
const NO_TLS = /does not support SSL connections/

export function asConnectError(location: PostgresLocation, error: unknown): EngineError {
  if (error instanceof EngineError) return error
  const state = sqlState(error)
  const refusal =
    state === undefined ? connectionRefusal(location, error) : loginRefusal(location, state, textOf(error))
  if (refusal !== undefined) {
    return new EngineError(
      'invalid_configuration',
      { field: 'location', message: refusal },
      { cause: withoutNamesIn(error) },
    )
  }
  return state === undefined ? unreachable(location, error) : asEngineError(error)
}

const WRONG_PASSWORD = 'The server does not accept the user and the password.'

/** Returns the setting to change if the server refused the login. */
function loginRefusal(location: PostgresLocation, state: string, text: string): string | undefined {
  switch (state) {
    case '28P01':
      return WRONG_PASSWORD
    case '28000':
      return authorizationRefusal(location, text)
    case '3D000':
      return noDatabase(location)
    case '42501':
      return 'The user may not connect to the database: let its owner "grant connect on database" to it.'
    case '08P01':
      return poolerRefusal(location, text)
    default:
      return undefined
  }
}

function noDatabase({ database }: PostgresLocation): string {
  return database === undefined
    ? 'The server has no database of the same name as the user: name one in the location, as in "/shop".'
    : `The server has no database "${database}": create it, or name another one in the location.`
}

/** A pooler uses one code for all refusals. */
function poolerRefusal(location: PostgresLocation, text: string): string | undefined {
  if (text.includes('authentication failed') || text.includes('no such user')) return WRONG_PASSWORD
  if (/database .*does not exist|no such database/.test(text)) return noDatabase(location)
  const parameter = /^unsupported startup parameter: (\w+)/.exec(text)?.[1]
  if (parameter === undefined) return undefined
  return `The pooler in front of the server does not take "${parameter}": add it to its ignore_startup_parameters, or remove it from the environment (PGOPTIONS).`
}

function authorizationRefusal({ tls }: PostgresLocation, text: string): string {
  if (text.includes('pg_hba.conf')) {
    const isPlain = tls === 'disable' && /no encryption|SSL off/.test(text)
    const how = isPlain
      ? ' without encryption: add "sslmode=require" to the location, or a line to that file'
      : ': add a line to it'
    return `The server's pg_hba.conf does not let this user into this database from this machine${how}.`
  }
  if (text.includes('certificate')) return CERTIFICATE_ADVICE
  if (text.includes('not permitted to log in')) return 'The user may not log in: "alter role" it with "login".'
  if (text.includes('does not exist')) return 'The server does not know the user: name one in the location.'
  if (/^(Peer|Ident) authentication failed/i.test(text)) {
    return 'The server authenticates the operating system user of this process, which is not the user of the location. Name that user, or let pg_hba.conf ask for a password.'
  }
  return `The server does not let the user in: ${withoutNames(text)}.`
}

/** Returns the setting to change if the connection failed before the login. */
function connectionRefusal(location: PostgresLocation, error: unknown): string | undefined {
  const text = textOf(error)
  const server = shownServer(location)
  if (NO_PASSWORD.test(text)) {
    return 'The server asks for a password: put user and password into the location or the settings.'
  }
  if (NO_TLS.test(text)) {
    return `${server} does not support TLS: leave "sslmode" out of the location, or set "ssl = on" at the server.`
  }
  const code = codeOf(error)
  if (UNTRUSTED.test(code)) {
    // Node appends advice of its own after a semicolon.
    return `The certificate of ${server} is not trusted (${text.split(';', 1)[0] ?? ''}). ${TRUST_ADVICE}`
  }
  const advice = certificateAdvice[code]
  if (advice !== undefined) return `The certificate of ${server} is refused: ${text.replace(/\.+$/, '')}. ${advice}`
  if (CERTIFICATE_WANTED.test(code)) return CERTIFICATE_ADVICE
  return undefined
}

function unreachable(location: PostgresLocation, error: unknown): EngineError {
  const message = `${shownServer(location)} cannot be reached: ${failureText(error)}. ${adviceFor(location, error)}`
  return new EngineError('store_unavailable', { message }, { cause: causeOf(error) })
}

function failureText(error: unknown): string {
  const text = textOf(error).replace(/\.+$/, '')
  if (text.includes('Connection terminated')) return 'it closed the connection'
  if (text === 'timeout expired') return 'it did not answer in time'
  if (text.includes('establishing an SSL connection')) return 'it does not answer as PostgreSQL does'
  return text
}

function adviceFor({ host }: PostgresLocation, error: unknown): string {
  const code = codeOf(error)
  if (code === 'ENOTFOUND') return 'Check the name.'
  if (code === 'ENOENT' && isFolder(host)) return 'Check the folder and the port, and that the server runs.'
  if (code === 'EACCES' || code === 'EPERM') return 'Let this process into the folder of the socket.'
  return code === '' ? 'Check that it is PostgreSQL that runs there.' : 'Check that it runs there.'
}

/** Removes names from the message: the server repeats them, and a password may stand where the user belongs. */
function withoutNamesIn(error: unknown): Error {
  const cause = causeOf(error)
  cause.message = withoutNames(cause.message)
  cause.stack = `${cause.name}: ${cause.message}`
  return cause
}

function withoutNames(text: string): string {
  return text.replaceAll(/"[^"]*"/g, '"…"')
}
