/** Checks a server before it is used: whether it can run the library, and whether it would lose data silently. */
import type { Redis } from 'ioredis'
import { EngineError } from '../../../kernel/engine-error.ts'
import { invalidLocation } from '../../server/server-location.ts'
import type { Connection } from '../connection/connection.ts'
import { REPLICA, causeOf } from '../connection/valkey-error.ts'

export interface ServerFacts {
  readonly product: 'Valkey' | 'Redis'
  readonly version: string
  readonly maxmemoryPolicy: string
  readonly isAppendOnly: boolean
  /** When the append-only file is synced to disk; undefined if the configuration is not readable. */
  readonly appendFsync: string | undefined
  /** Whether snapshots are scheduled; undefined if the configuration is not readable. */
  readonly hasSnapshots: boolean | undefined
  readonly isCluster: boolean
  readonly isReplica: boolean
  readonly usedMemoryBytes: number
  /** 0 if memory is not limited. */
  readonly maxmemoryBytes: number
  /** How many keys each of its databases has. */
  readonly keyCounts: ReadonlyMap<number, number>
}

/** The first version with functions and all commands that the library uses. */
const LEAST_VERSION = [7, 0] as const
const GOOD_POLICY = 'noeviction'

/**
 * Returns the facts of every server that accepts writes. Throws an error with advice if one of them cannot hold a store.
 * Replicas are checked too, since each may replace its primary; one that is unreachable is skipped.
 */
export async function checkServers(connection: Connection): Promise<ServerFacts[]> {
  const [servers, replicas] = await Promise.all([connection.onEachPrimary(factsOf), connection.onEachReplica(factsOf)])
  for (const facts of [...servers, ...replicas]) refuse(facts, connection.isCluster)
  return servers
}

/** After a refused SELECT the client stays in database 0 without an error, which would mix two stores. */
export async function checkDatabase(connection: Connection, database: number): Promise<void> {
  if (database === 0) return
  try {
    await connection.send('SELECT', database)
  } catch (error) {
    if (!(error instanceof Error) || !error.message.includes('out of range')) throw error
    const message = `The server has no database ${database}. Choose a smaller number, or raise "databases" in the server's configuration.`
    throw new EngineError('invalid_configuration', { field: 'location', message }, { cause: causeOf(error) })
  }
}

function refuse(facts: ServerFacts, isCluster: boolean): void {
  const [major = 0, minor = 0] = facts.version.split('.').map(Number)
  if (major < LEAST_VERSION[0] || (major === LEAST_VERSION[0] && minor < LEAST_VERSION[1])) {
    throw invalidLocation(
      `The server is ${facts.product} ${facts.version}, which is too old: it has no functions. Use Valkey 7.2 or later, or Redis 7.0 or later.`,
    )
  }
  if (facts.maxmemoryPolicy !== GOOD_POLICY) {
    throw invalidLocation(
      `The server's maxmemory-policy is ${facts.maxmemoryPolicy}, so it would drop stored work when its memory is full. ` +
        `Set it with "CONFIG SET maxmemory-policy ${GOOD_POLICY}" and in the server's configuration file.`,
    )
  }
  if (facts.isCluster && !isCluster) {
    throw invalidLocation('The server is part of a cluster: begin the location with "valkey-cluster://".')
  }
  if (facts.isReplica && !isCluster) throw new EngineError('store_unavailable', { message: REPLICA })
}

async function factsOf(server: Redis): Promise<ServerFacts> {
  const info = parseInfo(await server.info())
  const valkeyVersion = info.get('valkey_version')
  return {
    product: valkeyVersion === undefined ? 'Redis' : 'Valkey',
    version: valkeyVersion ?? info.get('redis_version') ?? '0',
    maxmemoryPolicy: info.get('maxmemory_policy') ?? GOOD_POLICY,
    isAppendOnly: info.get('aof_enabled') === '1',
    isCluster: info.get('cluster_enabled') === '1',
    isReplica: info.get('role') === 'slave',
    usedMemoryBytes: Number(info.get('used_memory') ?? 0),
    maxmemoryBytes: Number(info.get('maxmemory') ?? 0),
    keyCounts: keyCountsIn(info),
    ...(await persistenceOf(server)),
  }
}

/** A database has a line such as `db0:keys=12,expires=0,avg_ttl=0`; an empty one has none. */
function keyCountsIn(info: ReadonlyMap<string, string>): Map<number, number> {
  const counts = new Map<number, number>()
  for (const [field, value] of info) {
    const database = /^db(\d+)$/.exec(field)?.[1]
    const count = /^keys=(\d+)/.exec(value)?.[1]
    if (database !== undefined && count !== undefined) counts.set(Number(database), Number(count))
  }
  return counts
}

/** Not every user may read the configuration of the server. */
async function persistenceOf(server: Redis): Promise<Pick<ServerFacts, 'appendFsync' | 'hasSnapshots'>> {
  try {
    const settings = toMap(await server.call('CONFIG', 'GET', 'appendfsync', 'save'))
    const save = settings.get('save')
    return { appendFsync: settings.get('appendfsync'), hasSnapshots: save === undefined ? undefined : save !== '' }
  } catch {
    return { appendFsync: undefined, hasSnapshots: undefined }
  }
}

function toMap(reply: unknown): Map<string, string> {
  const values = reply as string[]
  const map = new Map<string, string>()
  for (let i = 0; i + 1 < values.length; i += 2) map.set(String(values[i]), String(values[i + 1]))
  return map
}

export function parseInfo(text: string): Map<string, string> {
  const lines = text.split('\r\n').filter((line) => line.includes(':'))
  return new Map(lines.map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1)]))
}
