/** The options of a Postgres store besides its location. A password here is not part of a location that gets logged. */
import type { ConnectionOptions } from 'node:tls'
import { EngineError } from '../../../kernel/engine-error.ts'
import { invalidConfiguration } from '../../../options/invalid-input.ts'
import { shape } from '../../../options/shape.ts'
import {
  checkServerOptions,
  invalidOption,
  must,
  refuseConflictingUsers,
  serverChecks,
} from '../../server/server-options.ts'
import { parsePostgres } from './postgres-location.ts'
import type { PostgresLocation } from './postgres-location.ts'

/** The options of a connection besides its location. */
export interface ConnectionSettings {
  readonly username?: string | undefined
  readonly password?: string | undefined
  /** Certificates, if those of the system are not enough. */
  readonly tls?: Pick<ConnectionOptions, 'ca' | 'cert' | 'key' | 'servername'> | undefined
  /** Limit for statements that are sent together. */
  readonly requestTimeoutMs?: number | undefined
}

export interface PostgresOptions extends ConnectionSettings {
  /** Connections that this process may use for its work. */
  readonly connections?: number | undefined
  /**
   * A location that leads to the server itself, for the one connection that listens for wake-ups, if the store's own
   * location leads to a pooler that shares connections. False: nothing listens, and work is polled once a second.
   */
  readonly listen?: string | false | undefined
}

/** Enough to keep a server busy with batches; more would wait for the same disk. */
export const CONNECTIONS_DEFAULT = 4

/** One for writes and one for reads. */
const CONNECTIONS_MIN = 2
const CONNECTIONS_MAX = 64

const LISTEN_FORM = 'a location such as postgres://host/database, or false'

const postgresOptions = shape<PostgresOptions>(invalidConfiguration)('{ password }', {
  ...serverChecks,
  connections: must<number>(
    (value) => Number.isInteger(value) && Number(value) >= CONNECTIONS_MIN && Number(value) <= CONNECTIONS_MAX,
    `a whole number from ${CONNECTIONS_MIN} to ${CONNECTIONS_MAX}`,
  ),
  listen: must<string | false>((value) => value === false || typeof value === 'string', LISTEN_FORM),
})

/** Refuses unknown and conflicting options. No message holds a value. */
export function checkPostgresOptions(options: PostgresOptions, location: PostgresLocation): void {
  checkServerOptions('postgres', options, postgresOptions)
  const listener = listenLocation(options, location)
  if (options.tls !== undefined && location.tls === 'disable' && (listener === false || listener.tls === 'disable')) {
    throw invalidOption(
      'postgres.tls',
      'The location does not ask for TLS, so the connection would be open to all: add "sslmode=verify-full" to it.',
    )
  }
  refuseConflictingUsers('postgres', location, options)
}

/**
 * Returns the location of the listening connection, or false if there is none. Parts that it leaves out, such as the
 * password, come from the store's location; the schema always does.
 */
export function listenLocation(options: PostgresOptions, location: PostgresLocation): PostgresLocation | false {
  const { listen } = options
  if (listen === false) return false
  const { username = options.username, password = options.password } = location
  if (listen === undefined) return { ...location, username, password }
  const own = parseListen(listen)
  const isSchemaOfAnother = own.schema !== location.schema && /[?&]schema=/.test(listen)
  if (isSchemaOfAnother)
    throw invalidOption('postgres.listen', 'It names another schema than the location: leave it out.')
  return {
    ...own,
    database: own.database ?? location.database,
    username: own.username ?? username,
    password: own.password ?? password,
    schema: location.schema,
    executionPartitions: location.executionPartitions,
  }
}

/** An error names the option, not the store's location. */
function parseListen(listen: string): PostgresLocation {
  const rest = /^postgres(?:ql)?:(.*)$/s.exec(listen)?.[1]
  if (rest === undefined) throw invalidOption('postgres.listen', `It must be ${LISTEN_FORM}.`)
  try {
    return parsePostgres(rest)
  } catch (error) {
    throw error instanceof EngineError ? invalidOption('postgres.listen', error.detail.message ?? '') : error
  }
}
