/** What the servers of a store did between two moments, whatever kind they are. */
import type { StoreServers } from './bench-store.ts'
import { PostgresWatch } from './postgres-watch.ts'
import type { PostgresUse } from './postgres-watch.ts'
import { ValkeyWatch } from './valkey-watch.ts'
import type { ValkeyUse } from './valkey-watch.ts'

/** The store lives in the process, whose CPU time contains its own. */
interface NoUse {
  readonly kind: 'none'
  readonly cpuMicros: 0
}

export type ServerUse = NoUse | ValkeyUse | PostgresUse

export interface ServerWatch {
  /** What all of them did together since the watch began. */
  readonly end: () => Promise<ServerUse>
}

export async function watchServers(servers: StoreServers): Promise<ServerWatch> {
  switch (servers.kind) {
    case 'none':
      return { end: async () => ({ kind: 'none', cpuMicros: 0 }) }
    case 'valkey':
      return await ValkeyWatch.begin(servers.nodes, servers.proxy)
    case 'postgres':
      return await PostgresWatch.begin(servers.server)
  }
}
