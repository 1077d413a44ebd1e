/** The stores that scenarios can run on, each in a place of its own that is gone afterwards. */
import path from 'node:path'
import type { PostgresServer } from '../test/servers/postgres-server.ts'
import type { Server } from '../test/servers/server.ts'
import { freshFolder } from './folder.ts'
import type { Settings } from './measurement.ts'
import { postgresSettings, startPostgres } from './postgres-server.ts'
import { startValkey, startValkeyCluster, valkeySettings } from './valkey-server.ts'

export const benchStores = ['memory', 'sqlite', 'valkey', 'valkey-cluster', 'postgres'] as const
export type BenchStore = (typeof benchStores)[number]

/** How a SQLite file is written: what a process has acknowledged survives its crash, not every loss of power. */
export const SYNCHRONOUS = 'normal'

/** What somebody needs to know of a store to compare numbers taken on it. */
export const storeSettings: Readonly<Record<BenchStore, Settings>> = {
  memory: {},
  sqlite: { synchronous: SYNCHRONOUS },
  valkey: valkeySettings,
  'valkey-cluster': { ...valkeySettings, primaries: 3, replicas: 3 },
  postgres: postgresSettings,
}

/** The servers behind a location, whose work can be looked at; none where the store lives in the process. */
export type StoreServers =
  | { readonly kind: 'none' }
  | { readonly kind: 'valkey'; readonly nodes: readonly Server[] }
  | { readonly kind: 'postgres'; readonly server: PostgresServer }

export interface StorePlace extends AsyncDisposable {
  readonly url: string
  readonly servers: StoreServers
}

const noServers = { kind: 'none' } as const

/** For what only Valkey has. */
export function valkeyNodes({ servers }: StorePlace): readonly Server[] {
  if (servers.kind !== 'valkey') throw new Error('This needs a Valkey server.')
  return servers.nodes
}

/** For what only PostgreSQL has. */
export function postgresOf({ servers }: StorePlace): PostgresServer {
  if (servers.kind !== 'postgres') throw new Error('This needs a PostgreSQL server.')
  return servers.server
}

/** A store that nobody has used yet. */
export async function freshStore(store: BenchStore): Promise<StorePlace> {
  switch (store) {
    case 'memory':
      return { url: 'memory:', servers: noServers, [Symbol.asyncDispose]: () => Promise.resolve() }
    case 'sqlite': {
      const folder = await freshFolder()
      return {
        url: `sqlite:${path.join(folder.path, 'bench.db')}?synchronous=${SYNCHRONOUS}`,
        servers: noServers,
        [Symbol.asyncDispose]: folder[Symbol.asyncDispose],
      }
    }
    case 'valkey': {
      const server = await startValkey()
      return {
        url: server.location,
        servers: { kind: 'valkey', nodes: [server] },
        [Symbol.asyncDispose]: () => server.stop(),
      }
    }
    case 'valkey-cluster': {
      const cluster = await startValkeyCluster()
      return {
        url: cluster.location,
        servers: { kind: 'valkey', nodes: cluster.nodes },
        [Symbol.asyncDispose]: () => cluster.stop(),
      }
    }
    case 'postgres': {
      const server = await startPostgres()
      return {
        url: server.location,
        servers: { kind: 'postgres', server },
        [Symbol.asyncDispose]: () => server.stop(),
      }
    }
  }
}
