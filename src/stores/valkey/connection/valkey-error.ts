/** What the server's refusals and the connection's failures mean to a caller. */
import { EngineError } from '../../../kernel/engine-error.ts'
import type { ServerAddress } from '../options/valkey-location.ts'

/** The word by which a server's refusal begins, such as `OOM` or `MOVED`; undefined for any other error. */
export function refusalWord(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined
  return /^([A-Z]{2,})(?: |$)/.exec(error.message)?.[1]
}

/** The server that has what another was asked for, by that one's word; undefined if the error names none. */
export function movedTo(error: unknown): ServerAddress | undefined {
  if (!(error instanceof Error)) return undefined
  const { host, port } = /^MOVED \d+ (?<host>[^ ?]+):(?<port>\d+)$/.exec(error.message)?.groups ?? {}
  return host === undefined ? undefined : { host, port: Number(port) }
}

export function isOutOfMemory(error: unknown): boolean {
  return refusalWord(error) === 'OOM'
}

/** The library is not there: the server is new to it, or somebody removed it. */
export function isFunctionMissing(error: unknown): boolean {
  return error instanceof Error && error.message.includes('Function not found')
}

/** It may be one only until the address leads to its successor. */
export const REPLICA = 'The server is a replica and takes no writes. If it stays one, name its primary in the location.'

/** Reasons that pass by themselves, or that somebody has to see to while callers wait. */
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
  NOREPLICAS: 'The server has fewer replicas than it was told to wait for.',
}

/** What nobody but a person can change. */
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

const LOST = 'The connection was lost before the answer came; it is made again.'

/** What the client library says, in words that speak of options which nobody has set, and what it means. */
const clientTexts: readonly (readonly [part: string, meaning: string])[] = [
  ['enableOfflineQueue', 'There is no connection to the server; it is made again.'],
  ['maxRetriesPerRequest', LOST],
  ['Connection is closed', LOST],
  ['Command timed out', 'The server did not answer in time.'],
]

/** A failure of a call or of opening the store, as callers get it. No text in it holds what was sent to the server. */
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

/** The same failure without what was sent: the client's errors carry their command with a password or payload in it. */
export function causeOf(error: unknown): Error {
  const cause = new Error(textOf(error))
  if (error instanceof Error) cause.name = error.name
  return cause
}

/** A server that does not know a command repeats its arguments. */
function textOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error)
  return text.split(', with args beginning with', 1)[0] ?? ''
}
