/** Maps server errors and connection failures to errors of the engine. */
import { EngineError } from '../../../kernel/engine-error.ts'
import type { ServerAddress } from '../options/valkey-location.ts'

/** Returns the prefix of a server error, such as `OOM` or `MOVED`; undefined for any other error. */
export function refusalWord(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined
  return /^([A-Z]{2,})(?: |$)/.exec(error.message)?.[1]
}

/** Returns the server that a MOVED error names; undefined for any other error. */
export function movedTo(error: unknown): ServerAddress | undefined {
  if (!(error instanceof Error)) return undefined
  const { host, port } = /^MOVED \d+ (?<host>[^ ?]+):(?<port>\d+)$/.exec(error.message)?.groups ?? {}
  return host === undefined ? undefined : { host, port: Number(port) }
}

export function isOutOfMemory(error: unknown): boolean {
  return refusalWord(error) === 'OOM'
}

/** The server lacks the library: it is new, lost its data, or the library was deleted. */
export function isFunctionMissing(error: unknown): boolean {
  return error instanceof Error && error.message.includes('Function not found')
}

/** After a failover this lasts until the address leads to the new primary. */
export const REPLICA = 'The server is a replica and takes no writes. If it stays one, name its primary in the location.'

/** Transient refusals. Callers retry, if need be until an operator has acted. */
const passing: Readonly<Record<string, string>> = {
  LOADING: 'The server is still loading its data.',
  BUSY: 'The server is busy with a script that runs too long.',
  READONLY: REPLICA,
  MASTERDOWN: 'The server has lost its primary.',
  CLUSTERDOWN: 'The cluster does not serve this slot now.',
  TRYAGAIN: 'The slot is being moved to another server.',
  MOVED: 'The slot has moved to another server.',
  ASK: 'The slot is being moved to another server.',
  MISCONF: 'The server cannot save to its disk and refuses writes: look at its log.',
  NOREPLICAS: 'The server has fewer replicas than min-replicas-to-write asks for.',
}

/** Permanent refusals: the configuration has to change. */
const refused: Readonly<Record<string, string>> = {
  NOAUTH: 'The server asks for a password: put user and password into the location or the settings.',
  WRONGPASS: 'The server does not accept the user and the password.',
  DENIED: 'The server refuses connections from other machines without a password: give it one.',
}

export function storeFull(): EngineError {
  return new EngineError('store_full', {
    message: 'The server has reached its maxmemory: raise it, or let ended executions be removed sooner.',
  })
}

const LOST = 'The connection was lost before the reply arrived; reconnecting.'

/** Texts of client library errors, which name its internal options, and what to report instead. */
const clientTexts: readonly (readonly [part: string, meaning: string])[] = [
  ['enableOfflineQueue', 'There is no connection to the server; reconnecting.'],
  ['maxRetriesPerRequest', LOST],
  ['Connection is closed', LOST],
  ['Command timed out', 'The server did not answer in time.'],
]

/** Converts a failure of a call, or of opening the store. The texts never hold arguments that were sent. */
export function asEngineError(error: unknown): EngineError {
  if (error instanceof EngineError) return error
  if (isOutOfMemory(error)) return storeFull()
  const cause = { cause: causeOf(error) }
  const word = refusalWord(error) ?? ''
  const passes = passing[word]
  if (passes !== undefined) return new EngineError('store_unavailable', { message: passes }, cause)
  const refusal = refusalText(word, textOf(error))
  if (refusal !== undefined) {
    return new EngineError('invalid_configuration', { field: 'location', message: refusal }, cause)
  }
  const text = textOf(error)
  const known = clientTexts.find(([part]) => text.includes(part))
  const message = known === undefined ? `The server or the connection failed: ${text}` : known[1]
  return new EngineError('store_unavailable', { message }, cause)
}

function refusalText(word: string, text: string): string | undefined {
  if (word === 'NOPERM') {
    return `The user may not do what the store needs: ${text.slice('NOPERM '.length)}. docs/valkey.md lists what must be allowed.`
  }
  const unknown = /unknown (?:sub)?command '([^']+)'/.exec(text)?.[1]
  if (unknown !== undefined) {
    return `The server does not have the command ${unknown}, or hides it. docs/valkey.md lists the servers that will do and what must be allowed.`
  }
  return refused[word]
}

/** Strips the command from an error of the client: its arguments may hold a password or a payload. */
export function causeOf(error: unknown): Error {
  const cause = new Error(textOf(error))
  if (error instanceof Error) cause.name = error.name
  return cause
}

/** The error for an unknown command repeats its arguments. */
function textOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error)
  return text.split(', with args beginning with', 1)[0] ?? ''
}
