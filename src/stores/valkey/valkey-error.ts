/** What the server's refusals and the connection's failures mean to a caller. */
import { EngineError } from '../engine-error.ts'

/** The word by which a server's refusal begins, such as `OOM` or `MOVED`; undefined for any other error. */
export function refusalWord(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined
  return /^([A-Z]{2,})(?: |$)/.exec(error.message)?.[1]
}

export function isOutOfMemory(error: unknown): boolean {
  return refusalWord(error) === 'OOM'
}

/** The library is not there: the server is new to it, or somebody removed it. */
export function isFunctionMissing(error: unknown): boolean {
  return error instanceof Error && error.message.includes('Function not found')
}

/** Reasons that pass by themselves, or that somebody has to see to while callers wait. */
const passing: Readonly<Record<string, string>> = {
  LOADING: 'The server is still loading its data.',
  BUSY: 'The server is busy with a script that runs too long.',
  READONLY: 'The server is a replica now; the new primary is looked for.',
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
  NOAUTH: 'The server asks for a password: put user and password into the location.',
  WRONGPASS: 'The server does not accept the user and password of the location.',
  NOPERM: 'The user of the location may not run a command that the store needs',
  DENIED: 'The server refuses connections from other machines without a password.',
}

export function storeFull(): EngineError {
  return new EngineError('store_full', {
    message: 'The server has reached its maxmemory: raise it, or let ended executions be removed sooner.',
  })
}

/** A failure of a call or of opening the store, as callers get it. The server's words never hold a secret of ours. */
export function asEngineError(error: unknown): EngineError {
  if (error instanceof EngineError) return error
  const cause = { cause: error }
  const word = refusalWord(error)
  const passes = word === undefined ? undefined : passing[word]
  if (passes !== undefined) return new EngineError('store_unavailable', { message: passes }, cause)
  const permanent = word === undefined ? undefined : refused[word]
  if (permanent !== undefined) {
    const said = word === 'NOPERM' && error instanceof Error ? `${permanent}: ${error.message}` : permanent
    return new EngineError('invalid_configuration', { field: 'location', message: said }, cause)
  }
  if (isOutOfMemory(error)) return storeFull()
  const text = error instanceof Error ? error.message : String(error)
  return new EngineError('store_unavailable', { message: `The server or the connection failed: ${text}` }, cause)
}
