/** What a Postgres store can be told besides its location. A password here does not stand in a line of text that gets logged. */
import { EngineError } from '../engine-error.ts'
import { parseLocation } from '../location.ts'
import type { ConnectionSettings } from './connection-settings.ts'
import type { PostgresLocation } from './postgres-location.ts'

export interface PostgresOptions extends ConnectionSettings {
  /** How many connections this process may use for its work. */
  readonly connections?: number | undefined
  /**
   * A location that leads to the server itself, for the one connection that listens for wake-ups, where the store's own
   * location leads through a pooler that shares connections. False: nothing listens, and work is looked for once a second.
   */
  readonly listen?: string | false | undefined
}

/** Enough to keep a server busy with batches; more of them wait for the same disk. */
export const CONNECTIONS_DEFAULT = 4
/** One is kept from waiting behind the other. */
const CONNECTIONS_MIN = 2
const CONNECTIONS_MAX = 64
/** A day. Timers cannot wait for much longer, and one that is asked to ends at once. */
const REQUEST_TIMEOUT_MAX_MS = 86_400_000

interface Kind {
  readonly isValid: (value: unknown) => boolean
  readonly text: string
}

const text: Kind = { isValid: (value) => typeof value === 'string' && value !== '', text: 'a text that is not empty' }
const object: Kind = { isValid: (value) => typeof value === 'object' && value !== null, text: 'an object' }
const duration: Kind = {
  isValid: (value) => typeof value === 'number' && value > 0 && value <= REQUEST_TIMEOUT_MAX_MS,
  text: `a number of milliseconds above 0, at most ${REQUEST_TIMEOUT_MAX_MS}`,
}
const count: Kind = {
  isValid: (value) => Number.isInteger(value) && Number(value) >= CONNECTIONS_MIN && Number(value) <= CONNECTIONS_MAX,
  text: `a whole number from ${CONNECTIONS_MIN} to ${CONNECTIONS_MAX}`,
}
const listening: Kind = {
  isValid: (value) => value === false || typeof value === 'string',
  text: 'a location such as postgres://host/database, or false',
}

const kinds: { readonly [Name in keyof Required<PostgresOptions>]: Kind } = {
  username: text,
  password: text,
  tls: object,
  requestTimeoutMs: duration,
  connections: count,
  listen: listening,
}

/** Refuses what would be ignored otherwise; no message holds a value. */
export function checkPostgresOptions(options: PostgresOptions, location: PostgresLocation): void {
  if (!object.isValid(options)) throw invalid('postgres', 'It must be an object such as { password }.')
  for (const [name, value] of Object.entries(options)) {
    const kind: Kind | undefined = Object.hasOwn(kinds, name) ? kinds[name as keyof PostgresOptions] : undefined
    if (kind === undefined) throw invalid(`postgres.${name}`, `There is no such setting; there are ${names()}.`)
    if (value !== undefined && !kind.isValid(value)) throw invalid(`postgres.${name}`, `It must be ${kind.text}.`)
  }
  const listener = listenLocation(options, location)
  if (options.tls !== undefined && location.tls === 'disable' && (listener === false || listener.tls === 'disable')) {
    throw invalid(
      'postgres.tls',
      'The location does not ask for TLS, so the connection would be open to all: add "sslmode=verify-full" to it.',
    )
  }
  refuseTwo('username', location.username, options.username)
  refuseTwo('password', location.password, options.password)
}

/**
 * Where the connection that listens goes, or false if there is none. What the location for it leaves out, such as the
 * password, is that of the store; whose tables and channels are meant only the store's location says.
 */
export function listenLocation(options: PostgresOptions, location: PostgresLocation): PostgresLocation | false {
  const { listen } = options
  if (listen === false) return false
  const { username = options.username, password = options.password } = location
  if (listen === undefined) return { ...location, username, password }
  const own = parseListen(listen)
  const isSchemaOfAnother = own.schema !== location.schema && /[?&]schema=/.test(listen)
  if (isSchemaOfAnother) throw invalid('postgres.listen', 'It names another schema than the location: leave it out.')
  return {
    ...own,
    database: own.database ?? location.database,
    username: own.username ?? username,
    password: own.password ?? password,
    schema: location.schema,
    executionPartitions: location.executionPartitions,
  }
}

function parseListen(listen: string): PostgresLocation {
  const location = parsed(listen)
  if (location?.kind === 'postgres') return location
  throw invalid('postgres.listen', `It must be ${listening.text}.`)
}

/** What is wrong with it is told under its own name, not as a fault of the store's location. */
function parsed(listen: string): ReturnType<typeof parseLocation> | undefined {
  try {
    return parseLocation(listen)
  } catch (error) {
    if (!(error instanceof EngineError)) throw error
    if (!/^postgres(ql)?:/.test(listen)) return undefined
    throw invalid('postgres.listen', error.detail.message ?? '')
  }
}

function refuseTwo(name: 'username' | 'password', located: string | undefined, given: string | undefined): void {
  if (located === undefined || given === undefined || located === given) return
  throw invalid(`postgres.${name}`, `The location has another ${name}: leave one of them out.`)
}

function names(): string {
  return Object.keys(kinds).join(', ')
}

function invalid(field: string, reason: string): EngineError {
  return new EngineError('invalid_configuration', { field, message: `${field}: ${reason}` })
}
