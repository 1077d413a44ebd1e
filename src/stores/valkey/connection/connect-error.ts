/** Classifies a failed connection, with advice. */
import { EngineError } from '../../../kernel/engine-error.ts'
import { asEngineError, causeOf, refusalWord } from './valkey-error.ts'
import { shownAddress } from '../../server/server-location.ts'
import type { ValkeyLocation } from '../options/valkey-location.ts'

/** Advice by the code of a certificate error of Node. */
const certificateAdvice: Readonly<Record<string, string>> = {
  CERT_HAS_EXPIRED: 'Give the server a new one.',
  CERT_NOT_YET_VALID: 'Check the clocks of the server and of this machine.',
  ERR_TLS_CERT_ALTNAME_INVALID: 'Name the server as its certificate does, or set valkey.tls.servername.',
}

const UNTRUSTED =
  /^(DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_VERIFY_LEAF_SIGNATURE|UNABLE_TO_GET_ISSUER_CERT.*)$/
const TRUST_ADVICE =
  'Give the certificate of its authority as valkey.tls.ca, or the name of its file in NODE_EXTRA_CA_CERTS.'
/** The TLS alert of a server that requires a client certificate. */
const CERTIFICATE_WANTED = /^ERR_SSL_.*ALERT_(CERTIFICATE_REQUIRED|BAD_CERTIFICATE|HANDSHAKE_FAILURE)$/
const CERTIFICATE_ADVICE = 'give valkey.tls.cert and valkey.tls.key'
const NO_CLUSTER = 'cluster support disabled'
const CHECK = 'Check that it runs there'

export function asConnectError(location: ValkeyLocation, error: unknown): EngineError {
  const reason = lastOf(error)
  if (reason instanceof EngineError) return reason
  if (textOf(reason).includes(NO_CLUSTER)) {
    return refused('The server is not part of a cluster: begin the location with "valkey://".', reason)
  }
  if (refusalWord(reason) !== undefined) return asEngineError(reason)
  const code = codeOf(reason)
  const server = serverOf(location)
  if (UNTRUSTED.test(code)) {
    return refused(`The certificate of ${server} is not trusted (${firstClause(reason)}). ${TRUST_ADVICE}`, reason)
  }
  const advice = certificateAdvice[code]
  if (advice !== undefined) {
    return refused(`The certificate of ${server} is refused: ${textOf(reason)}. ${advice}`, reason)
  }
  if (CERTIFICATE_WANTED.test(code)) {
    return refused(`${server} asks for a certificate: ${CERTIFICATE_ADVICE}.`, reason)
  }
  return unreachable(location, reason)
}

function unreachable(location: ValkeyLocation, reason: unknown): EngineError {
  const others = location.servers.length > 1 ? ' or any other server of the location' : ''
  const cause = textOf(reason).replace(/\.+$/, '')
  const message = `${serverOf(location)}${others} cannot be reached: ${cause}. ${adviceFor(location, reason)}`
  return new EngineError('store_unavailable', { message }, { cause: causeOf(reason) })
}

/** A protocol mismatch shows as a closed connection or a timeout. */
function adviceFor(location: ValkeyLocation, reason: unknown): string {
  const code = codeOf(reason)
  const isSilent = code === '' || code === 'ETIMEDOUT'
  const hangsUp = code === 'ECONNRESET'
  const { isTls } = location
  const isListed = location.isCluster || location.watchedName !== undefined
  if (isTls && hangsUp) return `${CHECK}; if it wants to see a certificate, ${CERTIFICATE_ADVICE}.`
  if (isTls && (isSilent || code.startsWith('ERR_SSL') || code === 'EPROTO')) {
    const how = isListed ? 'leave out "tls=true"' : 'begin the location with "valkey://"'
    return `${CHECK}; if it does not speak TLS, ${how}.`
  }
  if (!isTls && (isSilent || hangsUp)) {
    const how = isListed ? 'add "?tls=true"' : 'begin the location with "valkeys://"'
    return `${CHECK}; if it speaks TLS, ${how}.`
  }
  return `${CHECK}.`
}

/** A cluster client wraps the error of the last server that it tried. */
function lastOf(error: unknown): unknown {
  if (!(error instanceof Error) || !('lastNodeError' in error)) return error
  return error.lastNodeError ?? error
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : ''
}

/** A host with several addresses fails once for each, in an AggregateError without a message. */
function textOf(error: unknown): string {
  if (error instanceof AggregateError && error.message === '') return error.errors.map(textOf).join(', ')
  return error instanceof Error ? error.message : String(error)
}

/** Node appends its own advice after a semicolon. */
function firstClause(error: unknown): string {
  return textOf(error).split(';', 1)[0] ?? ''
}

function serverOf(location: ValkeyLocation): string {
  const [first] = location.servers
  return first === undefined ? 'The server' : shownAddress(first)
}

function refused(message: string, error: unknown): EngineError {
  return new EngineError('invalid_configuration', { field: 'location', message }, { cause: causeOf(error) })
}
