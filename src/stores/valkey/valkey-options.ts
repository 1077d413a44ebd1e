/** What a Valkey store can be told besides its location. A password here does not stand in a line of text that gets logged. */
import { EngineError } from '../engine-error.ts'
import type { ConnectionSettings } from './connection.ts'
import type { ValkeyLocation } from './valkey-location.ts'

export interface ValkeyOptions extends ConnectionSettings {
  /** False where this program may not put its function library onto the server. */
  readonly loadFunctions?: boolean | undefined
}

/** A day. Timers cannot wait for much longer, and one that is asked to ends at once. */
const REQUEST_TIMEOUT_MAX_MS = 86_400_000

interface Kind {
  readonly isValid: (value: unknown) => boolean
  readonly text: string
}

const text: Kind = { isValid: (value) => typeof value === 'string' && value !== '', text: 'a text that is not empty' }
const object: Kind = { isValid: (value) => typeof value === 'object' && value !== null, text: 'an object' }
const boolean: Kind = { isValid: (value) => typeof value === 'boolean', text: 'true or false' }
const duration: Kind = {
  isValid: (value) => typeof value === 'number' && value > 0 && value <= REQUEST_TIMEOUT_MAX_MS,
  text: `a number of milliseconds above 0, at most ${REQUEST_TIMEOUT_MAX_MS}`,
}

const kinds: { readonly [Name in keyof Required<ValkeyOptions>]: Kind } = {
  username: text,
  password: text,
  tls: object,
  requestTimeoutMs: duration,
  loadFunctions: boolean,
}

/** Refuses what would be ignored otherwise; no message holds a value. */
export function checkValkeyOptions(options: ValkeyOptions, location: ValkeyLocation): void {
  if (!object.isValid(options)) throw invalid('valkey', 'It must be an object such as { password }.')
  for (const [name, value] of Object.entries(options)) {
    const kind: Kind | undefined = Object.hasOwn(kinds, name) ? kinds[name as keyof ValkeyOptions] : undefined
    if (kind === undefined) throw invalid(`valkey.${name}`, `There is no such setting; there are ${names()}.`)
    if (value !== undefined && !kind.isValid(value)) throw invalid(`valkey.${name}`, `It must be ${kind.text}.`)
  }
  if (options.tls !== undefined && !location.isTls) {
    const how = location.isCluster ? 'add "?tls=true" to it' : 'begin it with "valkeys://"'
    throw invalid('valkey.tls', `The location does not ask for TLS, so the connection would be open to all: ${how}.`)
  }
  refuseTwo('username', location.username, options.username)
  refuseTwo('password', location.password, options.password)
}

function refuseTwo(name: 'username' | 'password', located: string | undefined, given: string | undefined): void {
  if (located === undefined || given === undefined || located === given) return
  throw invalid(`valkey.${name}`, `The location has another ${name}: leave one of them out.`)
}

function names(): string {
  return Object.keys(kinds).join(', ')
}

function invalid(field: string, reason: string): EngineError {
  return new EngineError('invalid_configuration', { field, message: `${field}: ${reason}` })
}
