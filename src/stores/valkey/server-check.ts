/** Looks a server over before it is used: whether it can run the library, and whether it would lose data silently. */
import type { Redis } from 'ioredis'
import { EngineError } from '../engine-error.ts'
import type { Connection } from './connection.ts'

export interface ServerFacts {
  readonly product: 'Valkey' | 'Redis'
  readonly version: string
  readonly maxmemoryPolicy: string
  readonly isAppendOnly: boolean
  /** When the append-only file reaches the disk; undefined if the server does not say. */
  readonly appendFsync: string | undefined
  /** Whether snapshots are taken by a schedule; undefined if the server does not say. */
  readonly hasSnapshots: boolean | undefined
  readonly isCluster: boolean
}

/** Functions came with 7.0, and with them everything that the library uses. */
const LEAST_VERSION = [7, 0] as const
const GOOD_POLICY = 'noeviction'

/** The facts of every server that accepts writes; throws what must be changed before the store can be used. */
export async function checkServers(connection: Connection): Promise<ServerFacts[]> {
  const servers = await connection.onEachPrimary(factsOf)
  for (const facts of servers) refuse(facts, connection.isCluster)
  return servers
}

function refuse(facts: ServerFacts, isCluster: boolean): void {
  const [major = 0, minor = 0] = facts.version.split('.').map(Number)
  if (major < LEAST_VERSION[0] || (major === LEAST_VERSION[0] && minor < LEAST_VERSION[1])) {
    throw invalid(
      `The server is ${facts.product} ${facts.version}, which has no functions. Use Valkey 7.2 or later, or Redis 7.0 or later.`,
    )
  }
  if (facts.maxmemoryPolicy !== GOOD_POLICY) {
    throw invalid(
      `The server's maxmemory-policy is ${facts.maxmemoryPolicy}, so it would drop stored work when its memory is full. ` +
        `Set it with "CONFIG SET maxmemory-policy ${GOOD_POLICY}" and in the server's configuration file.`,
    )
  }
  if (facts.isCluster && !isCluster) {
    throw invalid('The server is part of a cluster: begin the location with "valkey-cluster://".')
  }
}

function invalid(message: string): EngineError {
  return new EngineError('invalid_configuration', { field: 'location', message })
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
    ...(await persistenceOf(server)),
  }
}

/** A server may not let everybody see its configuration. */
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
