/** The stores that the suites run on. A new store joins with one entry here; no test knows which store it meets. */
import { ConditionalMemoryStore } from '../../src/stores/memory/conditional-memory.fixture.ts'
import type { Unsteadiness } from '../../src/stores/memory/conditional-memory.fixture.ts'
import { MemoryStore } from '../../src/stores/memory/memory-store.ts'
import { openStore } from '../../src/stores/open/open-store.ts'
import { isInMemory } from '../servers/embedded.ts'
import { serverLocations } from '../servers/server-locations.ts'
import { postgresTarget } from './postgres-target.ts'
import { serverTarget } from './server-target.ts'
import { sqliteTarget } from './sqlite-target.ts'
import type { Runtime } from '../../src/runtime/index.ts'
import type { Store } from '../../src/stores/store.ts'
import type { Backend } from '../../src/stores/working-set/commit/backend.ts'
import { UnsteadyBackend } from '../../src/stores/working-set/commit/unsteady-backend.fixture.ts'
import type { StoreTarget } from './store-target.ts'
import { writeInProcess } from './write-in-process.ts'

/** Of so many groups of writes, one fails on an unsteady store although nothing speaks against it. */
const FAIL_EVERY = 5

export const memory: StoreTarget = inMemory('memory', (runtime, indexedTags) =>
  openStore('memory:', { runtime, indexedTags }),
)

/** A store in memory with as many partitions as one on a server has. */
export const partitioned: StoreTarget = inMemory(
  'memory, partitioned',
  async (runtime, indexedTags) => new MemoryStore(runtime, { executionPartitions: 8, indexedTags }),
)

/** The same records, loaded and committed under conditions as across a network, with conflicts that nothing caused. */
export const conditional: StoreTarget = {
  ...inMemory('memory, with conflicts', openConditional({ failEvery: FAIL_EVERY })),
  steady: inMemory('memory, conditional', openConditional({})),
}

function openConditional(unsteadiness: Unsteadiness) {
  return async (runtime: Runtime, indexedTags: readonly string[]): Promise<Store> =>
    new ConditionalMemoryStore(runtime, { executionPartitions: 1, indexedTags }, unsteadiness)
}

function inMemory(
  name: string,
  open: (runtime: Runtime, indexedTags: readonly string[]) => Promise<Store>,
): StoreTarget {
  return {
    name,
    open: async (runtime, indexedTags) => {
      const store = await open(runtime, indexedTags)
      return {
        store,
        plant: (partition, record) => writeInProcess(store, partition, (tx) => tx.put(record)),
        setEntry: (partition, index, id, score) =>
          writeInProcess(store, partition, (tx) => tx.repair(index, id, score)),
        damage: undefined,
        untilListening: async () => undefined,
        clear: async () => undefined,
        remove: async () => undefined,
      }
    },
  }
}

const locations = serverLocations()

export const embeddedTargets: readonly StoreTarget[] = isInMemory ? [memory] : [memory, conditional, sqliteTarget()]

export const valkeyTargets: readonly StoreTarget[] =
  locations === undefined ? [] : [serverTarget('valkey', locations.valkey), unsteadyTarget('redis', locations.redis)]

export const postgresTargets: readonly StoreTarget[] =
  locations === undefined ? [] : [postgresTarget('postgres', locations.postgres)]

/** Other servers behind a program that is among the targets already. */
const furtherServers: readonly StoreTarget[] =
  locations === undefined
    ? []
    : [serverTarget('valkey cluster', locations.cluster), postgresTarget('postgres, newest', locations.postgresNewest)]

/** A server with conflicts that nothing caused and without reservations. */
function unsteadyTarget(name: string, location: string): StoreTarget {
  const wrapBackend = (backend: Backend) => new UnsteadyBackend(backend, FAIL_EVERY)
  return { ...serverTarget(`${name}, with conflicts`, location, wrapBackend), steady: serverTarget(name, location) }
}

/** One of each kind, for what operations do: the kernel decides it, in the process of the test. */
export const storeTargets: readonly StoreTarget[] = [...embeddedTargets, ...valkeyTargets, ...postgresTargets]

/** Every server too, for what a server does: load, compare, write, sort, page, notify. */
export const serverTargets: readonly StoreTarget[] = [...storeTargets, ...furtherServers]

/** Those that keep their data where others can reach it. */
export const reachableTargets: readonly StoreTarget[] = serverTargets.filter(
  (target) => target !== memory && target !== conditional,
)
