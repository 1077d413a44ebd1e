/** Parses the location of a PostgreSQL store: the server, the database and the schema. */
import type { EngineError } from '../../../kernel/engine-error.ts'
import { decoded, invalidLocation, shownAddress, splitLocation } from '../../server/server-location.ts'

/** As in libpq. */
export type TlsMode = 'disable' | 'require' | 'verify-ca' | 'verify-full'

export interface PostgresLocation {
  readonly kind: 'postgres'
  /** A name, an address, or the folder of a socket, which begins with "/". */
  readonly host: string
  readonly port: number
  /** Left out, the database with the user's name. */
  readonly database: string | undefined
  /** Left out, the user of this process. */
  readonly username: string | undefined
  readonly password: string | undefined
  /** Holds only the store's tables, so that several stores can share a database. */
  readonly schema: string
  /** The number of partitions; only the first user of the store can choose it. */
  readonly executionPartitions: number | undefined
  /** Whether statements are prepared by name, which some poolers do not support. */
  readonly isPrepared: boolean
  readonly tls: TlsMode
  /** The application_name of the connections. */
  readonly applicationName: string | undefined
  readonly connectTimeoutMs: number | undefined
}

const DEFAULT_PORT = 5_432
const DEFAULT_SCHEMA = 'flowfabric'
const PARTITIONS_MAX = 64
const CONNECT_TIMEOUT_MAX_S = 600

/** PostgreSQL silently truncates longer names. */
const NAME_BYTES_MAX = 63

/** Short enough for the names of channels that are derived from it. */
const SCHEMA = /^(?!pg_)[a-z_][a-z0-9_]{0,47}$/
const TLS_MODES: readonly TlsMode[] = ['disable', 'require', 'verify-ca', 'verify-full']

export const postgresForms = [
  'postgres://localhost:5432/shop',
  'postgres://user:password@host/shop?schema=flowfabric&sslmode=verify-full',
  'postgres:///shop?host=/run/postgresql',
] as const

const SETTINGS = ['schema', 'partitions', 'prepare', 'sslmode', 'host', 'application_name', 'connect_timeout'] as const
type SettingName = (typeof SETTINGS)[number]

/** Settings of other programs, with the replacement here. None of these names can be a piece of a password. */
const settingsElsewhere: Readonly<Record<string, string>> = {
  user: 'write it in front of the host, as in user:password@host',
  password: 'write it in front of the host, as in user:password@host',
  port: 'write it behind the host, as in host:5432',
  dbname: 'write it behind the host, as in host/database',
  pgbouncer: 'write "prepare=false"',
  statement_cache_size: 'write "prepare=false"',
  connection_limit: 'set postgres.connections',
  pool_timeout: 'leave it out',
  options: 'leave it out, or set it for the user with "alter role"',
  search_path: 'write "schema=…"',
  currentSchema: 'write "schema=…"',
  ssl: 'write "sslmode=require" or "sslmode=verify-full"',
  sslrootcert: 'give the certificate as postgres.tls.ca',
  sslcert: 'give the certificate as postgres.tls.cert',
  sslkey: 'give the key as postgres.tls.key',
  channel_binding: 'leave it out; "sslmode=verify-full" protects as well',
  target_session_attrs: 'leave it out and name the primary',
}

export function parsePostgres(rest: string): PostgresLocation {
  const { servers, username, password, path, query } = splitLocation(rest, postgresForms[0])
  const settings = parseSettings(query)
  return {
    kind: 'postgres',
    ...parseServer(servers, settings.get('host')),
    database: parseDatabase(path),
    username,
    password,
    schema: checkedSchema(settings.get('schema') ?? DEFAULT_SCHEMA),
    executionPartitions: numberIn(settings, 'partitions', PARTITIONS_MAX, 'a whole number'),
    isPrepared: checkedPrepare(settings.get('prepare') ?? 'true'),
    tls: checkedTls(settings.get('sslmode') ?? 'disable'),
    applicationName: checkedApplicationName(settings.get('application_name')),
    connectTimeoutMs: inMs(numberIn(settings, 'connect_timeout', CONNECT_TIMEOUT_MAX_S, 'a whole number of seconds')),
  }
}

/** The location for logs and reports: without user and password. */
export function shownLocation(location: PostgresLocation): string {
  const { host, port, database, tls, schema } = location
  const isSocket = isFolder(host)
  const server = isSocket ? (port === DEFAULT_PORT ? '' : `:${port}`) : shownServer(location)
  const path = database === undefined ? '' : `/${encodeURIComponent(database)}`
  const settings = [...(isSocket ? [`host=${host}`] : []), ...(tls === 'disable' ? [] : [`sslmode=${tls}`])]
  const query = settings.length === 0 ? '' : `?${settings.join('&')}`
  return `postgres://${server}${path}${query}, schema ${schema}`
}

/** Returns a host and its port, or the file of a socket. */
export function shownServer(address: Pick<PostgresLocation, 'host' | 'port'>): string {
  const { host, port } = address
  return isFolder(host) ? `${host.replace(/\/$/, '')}/.s.PGSQL.${port}` : shownAddress(address)
}

export function isFolder(host: string): boolean {
  return host.startsWith('/')
}

/** The setting `host` has precedence, as in other clients. */
function parseServer(text: string, other: string | undefined): Pick<PostgresLocation, 'host' | 'port'> {
  if (text.includes(',')) {
    throw invalidLocation('Several servers are given. Name one, or an address that always leads to the primary.')
  }
  const match =
    /^(?:\[(?<six>[0-9a-fA-F:.]+)\]|(?<host>[A-Za-z0-9._-]+|(?:%2[fF])[A-Za-z0-9._%-]+)?)(?::(?<port>\d{1,5}))?$/.exec(
      text,
    )
  const named = other ?? match?.groups?.['six'] ?? match?.groups?.['host']
  const port = Number(match?.groups?.['port'] ?? DEFAULT_PORT)
  if (match === null || named === undefined || port < 1 || port > 65_535) {
    throw invalidLocation(
      'A server is a host and a port, as in "localhost:5432" or "[::1]:5432", or the folder of a socket, as in "?host=/run/postgresql".',
    )
  }
  return { host: checkedHost(other ?? decoded(named)), port }
}

function checkedHost(host: string): string {
  const isValid = isFolder(host) ? /^[^,\p{Cc}]+$/u.test(host) : /^[A-Za-z0-9.:_-]+$/.test(host)
  if (isValid) return host
  throw invalidLocation(
    '"host" is the name or the address of one server, or the folder of a socket, which begins with "/".',
  )
}

function parseDatabase(path: string): string | undefined {
  if (path === '') return undefined
  const database = /[/#]/.test(path) ? '' : decoded(path)
  if (isName(database)) return database
  throw invalidLocation(
    `What follows the host is the name of a database of at most ${NAME_BYTES_MAX} bytes, as in "/shop"; in it "/" and "#" are written as "%2F" and "%23".`,
  )
}

function parseSettings(query: string): ReadonlyMap<SettingName, string> {
  const settings = new Map<SettingName, string>()
  for (const [name, value] of new URLSearchParams(query)) {
    if (!isSettingName(name)) throw unknownSetting(name)
    if (settings.has(name)) throw invalidLocation(`"${name}" is given more than once.`)
    settings.set(name, value)
  }
  return settings
}

function isSettingName(name: string): name is SettingName {
  return SETTINGS.some((known) => known === name)
}

function unknownSetting(name: string): EngineError {
  const instead = Object.hasOwn(settingsElsewhere, name) ? settingsElsewhere[name] : undefined
  if (instead !== undefined) return invalidLocation(`"${name}" is not a setting of a Postgres store: ${instead}.`)
  // Its name stays out of the message: it may be a piece of a password that was not encoded.
  return invalidLocation(`It has a setting that a Postgres store does not have; there are ${SETTINGS.join(', ')}.`)
}

function checkedSchema(schema: string): string {
  if (SCHEMA.test(schema)) return schema
  throw invalidLocation(
    '"schema" is 1 to 48 of small letters, digits and "_", begins with no digit and not with "pg_".',
  )
}

function checkedPrepare(text: string): boolean {
  if (text === 'true' || text === 'false') return text === 'true'
  throw invalidLocation('"prepare" is "true" or "false".')
}

function checkedTls(text: string): TlsMode {
  const mode = TLS_MODES.find((known) => known === text)
  if (mode !== undefined) return mode
  const modes = TLS_MODES.map((known) => `"${known}"`).join(', ')
  const isLeftOpen = text === 'allow' || text === 'prefer'
  const why = isLeftOpen ? ` With "${text}" an attacker in between could switch the encryption off.` : ''
  throw invalidLocation(`"sslmode" is one of ${modes}.${why}`)
}

function checkedApplicationName(name: string | undefined): string | undefined {
  if (name === undefined || (isName(name) && /^[ -~]+$/.test(name))) return name
  throw invalidLocation(`"application_name" is 1 to ${NAME_BYTES_MAX} printable ASCII characters.`)
}

function numberIn(
  settings: ReadonlyMap<SettingName, string>,
  name: SettingName,
  max: number,
  what: string,
): number | undefined {
  const text = settings.get(name)
  if (text === undefined) return undefined
  const number = /^\d{1,4}$/.test(text) ? Number(text) : 0
  if (number >= 1 && number <= max) return number
  throw invalidLocation(`"${name}" is ${what} from 1 to ${max}.`)
}

function inMs(seconds: number | undefined): number | undefined {
  return seconds === undefined ? undefined : seconds * 1_000
}

function isName(text: string): boolean {
  return text !== '' && !text.includes('\u0000') && Buffer.byteLength(text) <= NAME_BYTES_MAX
}
