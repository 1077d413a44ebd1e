/** The stores that scenarios can run on, each in a place of its own that is gone afterwards. */
import path from 'node:path'
import type { Server } from '../test/servers/server.ts'
import { freshFolder } from './folder.ts'
import type { Settings } from './measurement.ts'
import { startValkey, startValkeyCluster, valkeySettings } from './valkey-server.ts'

export const benchStores = ['memory', 'sqlite', 'valkey', 'valkey-cluster'] as const
export type BenchStore = (typeof benchStores)[number]

/** How a SQLite file is written: what a process has acknowledged survives its crash, not every loss of power. */
export const SYNCHRONOUS = 'normal'

/** What somebody needs to know of a store to compare numbers taken on it. */
export const storeSettings: Readonly<Record<BenchStore, Settings>> = {
  memory: {},
  sqlite: { synchronous: SYNCHRONOUS },
  valkey: valkeySettings,
  'valkey-cluster': { ...valkeySettings, primaries: 3, replicas: 3 },
}

export interface StorePlace extends AsyncDisposable {
  readonly url: string
  /** The servers behind the location, whose work can be looked at; none where the store lives in the process. */
  readonly servers: readonly Server[]
}

/** A store that nobody has used yet. */
export async function freshStore(store: BenchStore): Promise<StorePlace> {
  switch (store) {
    case 'memory':
      return { url: 'memory:', servers: [], [Symbol.asyncDispose]: () => Promise.resolve() }
    case 'sqlite': {
      const folder = await freshFolder()
      return {
        url: `sqlite:${path.join(folder.path, 'bench.db')}?synchronous=${SYNCHRONOUS}`,
        servers: [],
        [Symbol.asyncDispose]: folder[Symbol.asyncDispose],
      }
    }
    case 'valkey': {
      const server = await startValkey()
      return { url: server.location, servers: [server], [Symbol.asyncDispose]: () => server.stop() }
    }
    case 'valkey-cluster': {
      const cluster = await startValkeyCluster()
      return { url: cluster.location, servers: cluster.nodes, [Symbol.asyncDispose]: () => cluster.stop() }
    }
  }
}
