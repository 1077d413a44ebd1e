/** Where a Valkey server or cluster is, and how to reach it, from one line of text. */
import { invalidLocation, shownAddress, splitLocation } from '../../server/server-location.ts'

export interface ServerAddress {
  readonly host: string
  readonly port: number
}

export interface ValkeyLocation {
  readonly kind: 'valkey'
  /** One server; of a cluster, those that are asked for all the others; the sentinels, if these name the server. */
  readonly servers: readonly ServerAddress[]
  /** What the sentinels call the server, which they watch and replace by a replica. Undefined without sentinels. */
  readonly watchedName: string | undefined
  readonly isCluster: boolean
  readonly isTls: boolean
  readonly username: string | undefined
  readonly password: string | undefined
  readonly database: number
  /** What every key begins with, so that several stores can share a server. */
  readonly prefix: string
  /** How many partitions executions are spread over; only its first user can choose. */
  readonly executionPartitions: number | undefined
}

const DEFAULT_PORT = 6_379
const DEFAULT_SENTINEL_PORT = 26_379
const DEFAULT_PREFIX = 'ff'
const DATABASE_MAX = 1_023
const PARTITIONS_MAX = 1_024
const WATCHED_NAME = /^[A-Za-z0-9_.:-]{1,128}$/
const PREFIX = /^[A-Za-z0-9_.:-]{1,64}$/

export const valkeyForms = [
  'valkey://localhost:6379',
  'valkeys://user:password@host:6380/0?prefix=ff',
  'valkey-cluster://host1:6379,host2:6379?tls=true',
  'valkey-sentinel://host1:26379,host2:26379/mymaster?tls=true',
] as const

interface Scheme {
  readonly isCluster: boolean
  readonly isTls: boolean
  readonly isWatched?: boolean
}

export function parseValkey(scheme: Scheme, rest: string): ValkeyLocation {
  const { servers, username, password, path, query } = splitLocation(rest, valkeyForms[0])
  const { isTls, prefix, executionPartitions } = parseSettings(query, scheme)
  const { watchedName, databasePath } = parsePath(path, scheme)
  return {
    kind: 'valkey',
    servers: parseServers(servers, scheme),
    isCluster: scheme.isCluster,
    isTls: scheme.isTls || isTls,
    username,
    password,
    watchedName,
    database: parseDatabase(databasePath, scheme),
    prefix,
    executionPartitions,
  }
}

/** The location as it may be shown and logged: without user and password. */
export function shownLocation(location: ValkeyLocation): string {
  const { watchedName } = location
  const servers = location.servers.map(shownAddress)
  const name = watchedName === undefined ? '' : `/${watchedName}`
  const database = location.database === 0 ? '' : `/${location.database}`
  const tls = location.isTls && schemeOf(location) !== 'valkeys' ? '?tls=true' : ''
  return `${schemeOf(location)}://${servers.join(',')}${name}${database}${tls}, prefix ${location.prefix}`
}

function schemeOf({ isCluster, isTls, watchedName }: ValkeyLocation): string {
  if (isCluster) return 'valkey-cluster'
  if (watchedName !== undefined) return 'valkey-sentinel'
  return isTls ? 'valkeys' : 'valkey'
}

/** Behind sentinels comes the name of what they watch, and then the database. */
function parsePath(
  path: string,
  { isWatched = false }: Scheme,
): { watchedName: string | undefined; databasePath: string } {
  if (!isWatched) return { watchedName: undefined, databasePath: path }
  const [name = '', ...rest] = path.split('/')
  if (!WATCHED_NAME.test(name)) {
    throw invalidLocation(
      'Behind the sentinels comes the name of what they watch, as in "valkey-sentinel://host:26379/mymaster".',
    )
  }
  return { watchedName: name, databasePath: rest.join('/') }
}

function parseServers(text: string, { isCluster, isWatched = false }: Scheme): ServerAddress[] {
  const parts = text.split(',')
  if (parts.length > 1 && !isCluster && !isWatched) {
    throw invalidLocation(
      'Several servers are given. Those of a cluster begin with "valkey-cluster://", and sentinels with "valkey-sentinel://".',
    )
  }
  return parts.map((part) => parseServer(part, isWatched ? DEFAULT_SENTINEL_PORT : DEFAULT_PORT))
}

function parseServer(text: string, defaultPort: number): ServerAddress {
  const match = /^(?:\[(?<six>[0-9a-fA-F:.]+)\]|(?<host>[A-Za-z0-9._-]+))(?::(?<port>\d{1,5}))?$/.exec(text)
  const host = match?.groups?.['six'] ?? match?.groups?.['host']
  const port = Number(match?.groups?.['port'] ?? defaultPort)
  if (host === undefined || port < 1 || port > 65_535) {
    throw invalidLocation('A server is a host and a port, as in "localhost:6379" or "[::1]:6379".')
  }
  return { host, port }
}

function parseDatabase(path: string, { isCluster }: Scheme): number {
  if (path === '') return 0
  const database = /^\d{1,4}$/.test(path) ? Number(path) : -1
  if (database < 0 || database > DATABASE_MAX) {
    throw invalidLocation(`What follows the servers is the number of a database from 0 to ${DATABASE_MAX}, as in "/0".`)
  }
  if (isCluster && database !== 0) throw invalidLocation('A cluster has database 0 only.')
  return database
}

function parseSettings(
  query: string,
  scheme: Scheme,
): { isTls: boolean; prefix: string; executionPartitions: number | undefined } {
  const settings = new URLSearchParams(query)
  const hasTlsScheme = !scheme.isCluster && scheme.isWatched !== true
  const known = hasTlsScheme ? ['prefix', 'partitions'] : ['prefix', 'partitions', 'tls']
  for (const name of settings.keys()) {
    // Its name stays out of the message: it may be a piece of a password that was not encoded.
    if (!known.includes(name)) {
      throw invalidLocation(`It has a setting that a Valkey store does not have; there are ${known.join(', ')}.`)
    }
    if (settings.getAll(name).length > 1) throw invalidLocation(`"${name}" is given more than once.`)
  }
  const tls = settings.get('tls') ?? 'false'
  if (tls !== 'true' && tls !== 'false') throw invalidLocation('"tls" is "true" or "false".')
  const partitions = settings.get('partitions')
  return {
    isTls: tls === 'true',
    prefix: checkedPrefix(settings.get('prefix') ?? DEFAULT_PREFIX),
    executionPartitions: partitions === null ? undefined : checkedPartitions(partitions),
  }
}

function checkedPrefix(prefix: string): string {
  if (PREFIX.test(prefix)) return prefix
  throw invalidLocation('"prefix" is 1 to 64 of letters, digits, "_", ".", ":" and "-".')
}

function checkedPartitions(text: string): number {
  const count = /^\d{1,4}$/.test(text) ? Number(text) : 0
  if (count >= 1 && count <= PARTITIONS_MAX) return count
  throw invalidLocation(`"partitions" is a whole number from 1 to ${PARTITIONS_MAX}.`)
}
