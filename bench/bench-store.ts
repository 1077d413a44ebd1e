/** The stores that scenarios can run on, each in a place of its own that is gone afterwards. */
import path from 'node:path'
import type { PostgresServer } from '../test/servers/postgres-server.ts'
import type { Server } from '../test/servers/server.ts'
import { freshFolder } from './folder.ts'
import type { Settings } from './measurement.ts'
import { DelayProxy } from './network/delay-proxy.ts'
import { postgresSettings, startPostgres } from './postgres-server.ts'
import { startValkey, startValkeyCluster, valkeySettings } from './valkey-server.ts'

export const benchStores = ['memory', 'sqlite', 'valkey', 'valkey-cluster', 'postgres'] as const
export type BenchStore = (typeof benchStores)[number]

/** How a SQLite file is written: what a process has acknowledged survives its crash, not every loss of power. */
export const SYNCHRONOUS = 'normal'

/** The settings of a store that a reader needs to compare numbers taken on it. */
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
  | { readonly kind: 'valkey'; readonly nodes: readonly Server[]; readonly proxy?: DelayProxy | undefined }
  | { readonly kind: 'postgres'; readonly server: PostgresServer }

export interface StorePlace extends AsyncDisposable {
  /** Where clients connect: to the server, or to the proxy in front of it. */
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

/** An unused store. A delay puts a proxy in front of it that adds so many milliseconds each way. */
export async function freshStore(store: BenchStore, delayMs?: number): Promise<StorePlace> {
  if (delayMs !== undefined && store !== 'valkey') throw new Error('Only a single Valkey server can have a delay.')
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
      return delayMs === undefined ? placeOf(server) : await delayedPlace(server, delayMs)
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

function placeOf(server: Server): StorePlace {
  return {
    url: server.location,
    servers: { kind: 'valkey', nodes: [server] },
    [Symbol.asyncDispose]: () => server.stop(),
  }
}

async function delayedPlace(server: Server, delayMs: number): Promise<StorePlace> {
  try {
    const proxy = await DelayProxy.start({ host: server.address.host, port: server.port, delayMs })
    const url = new URL(server.location)
    url.port = String(proxy.port)
    return {
      url: url.href,
      servers: { kind: 'valkey', nodes: [server], proxy },
      async [Symbol.asyncDispose]() {
        await proxy[Symbol.asyncDispose]()
        await server.stop()
      },
    }
  } catch (error) {
    await server.stop()
    throw error
  }
}
