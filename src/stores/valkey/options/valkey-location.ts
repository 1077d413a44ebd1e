/** Where a Valkey server or cluster is, and how to reach it, from one line of text. */
import { invalidLocation, shownAddress, splitLocation } from '../../server/server-location.ts'

export interface ServerAddress {
  readonly host: string
  readonly port: number
}

export interface ValkeyLocation {
  readonly kind: 'valkey'
  /** One server; of a cluster, those that are asked for all the others. */
  readonly servers: readonly ServerAddress[]
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
const DEFAULT_PREFIX = 'ff'
const DATABASE_MAX = 1_023
const PARTITIONS_MAX = 1_024
const PREFIX = /^[A-Za-z0-9_.:-]{1,64}$/

export const valkeyForms = [
  'valkey://localhost:6379',
  'valkeys://user:password@host:6380/0?prefix=ff',
  'valkey-cluster://host1:6379,host2:6379?tls=true',
] as const

interface Scheme {
  readonly isCluster: boolean
  readonly isTls: boolean
}

export function parseValkey(scheme: Scheme, rest: string): ValkeyLocation {
  const { servers, username, password, path, query } = splitLocation(rest, valkeyForms[0])
  const { isTls, prefix, executionPartitions } = parseSettings(query, scheme)
  return {
    kind: 'valkey',
    servers: parseServers(servers, scheme),
    isCluster: scheme.isCluster,
    isTls: scheme.isTls || isTls,
    username,
    password,
    database: parseDatabase(path, scheme),
    prefix,
    executionPartitions,
  }
}

/** The location as it may be shown and logged: without user and password. */
export function shownLocation(location: ValkeyLocation): string {
  const scheme = location.isCluster ? 'valkey-cluster' : location.isTls ? 'valkeys' : 'valkey'
  const servers = location.servers.map(shownAddress)
  const database = location.database === 0 ? '' : `/${location.database}`
  const tls = location.isCluster && location.isTls ? '?tls=true' : ''
  return `${scheme}://${servers.join(',')}${database}${tls}, prefix ${location.prefix}`
}

function parseServers(text: string, { isCluster }: Scheme): ServerAddress[] {
  const parts = text.split(',')
  if (parts.length > 1 && !isCluster) {
    throw invalidLocation('Several servers are given. Those of a cluster begin with "valkey-cluster://".')
  }
  return parts.map(parseServer)
}

function parseServer(text: string): ServerAddress {
  const match = /^(?:\[(?<six>[0-9a-fA-F:.]+)\]|(?<host>[A-Za-z0-9._-]+))(?::(?<port>\d{1,5}))?$/.exec(text)
  const host = match?.groups?.['six'] ?? match?.groups?.['host']
  const port = Number(match?.groups?.['port'] ?? DEFAULT_PORT)
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
  const known = scheme.isCluster ? ['prefix', 'partitions', 'tls'] : ['prefix', 'partitions']
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
