/** Every store that the suites run on. A new store joins with one entry here; no test knows which store it meets. */
import { openStore } from '../../src/stores/open-store.ts'
import { serverLocations } from '../servers/server-locations.ts'
import { postgresTarget } from './postgres-target.ts'
import { serverTarget } from './server-target.ts'
import { sqlite } from './sqlite-target.ts'
import type { StoreTarget } from './store-target.ts'
import { writeInProcess } from './write-in-process.ts'

export const memory: StoreTarget = {
  name: 'memory',
  open: async (runtime, indexedTags) => {
    const store = await openStore('memory:', { runtime, indexedTags })
    return {
      store,
      plant: (partition, record) => writeInProcess(store, partition, (tx) => tx.put(record)),
      setEntry: (partition, index, id, score) => writeInProcess(store, partition, (tx) => tx.repair(index, id, score)),
      damage: undefined,
      untilListening: async () => undefined,
      clear: async () => undefined,
      remove: async () => undefined,
    }
  },
}

const locations = serverLocations()

export const embeddedTargets: readonly StoreTarget[] = [memory, sqlite]

export const valkeyTargets: readonly StoreTarget[] =
  locations === undefined
    ? []
    : [
        serverTarget('valkey', locations.valkey),
        serverTarget('redis', locations.redis),
        serverTarget('valkey cluster', locations.cluster),
      ]

export const postgresTargets: readonly StoreTarget[] =
  locations === undefined
    ? []
    : [postgresTarget('postgres', locations.postgres), postgresTarget('postgres, newest', locations.postgresNewest)]

export const storeTargets: readonly StoreTarget[] = [...embeddedTargets, ...valkeyTargets, ...postgresTargets]

/** Those that keep their data where others can reach it. */
export const reachableTargets: readonly StoreTarget[] = storeTargets.filter((target) => target !== memory)
