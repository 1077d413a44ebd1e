/** Every store that the suite runs on. A new store joins with one entry here; no test knows which store it meets. */
import { randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { Runtime } from '../../src/runtime/index.ts'
import { openStore } from '../../src/stores/open-store.ts'
import type { Partition, Store } from '../../src/stores/store.ts'
import { serverLocations } from '../servers/server-locations.ts'

export interface OpenedTarget {
  readonly store: Store
  /** Removes whatever the store left behind. Called after the store was closed. */
  readonly remove: () => Promise<void>
}

export interface StoreTarget {
  readonly name: string
  readonly open: (runtime: Runtime, indexedTags: readonly string[]) => Promise<OpenedTarget>
}

export const memory: StoreTarget = {
  name: 'memory',
  open: async (runtime, indexedTags) => ({
    store: await openStore('memory:', { runtime, indexedTags }),
    remove: async () => undefined,
  }),
}

/** In a file, as it is used; the folder of the file goes with the test. */
const sqlite: StoreTarget = {
  name: 'sqlite',
  open: async (runtime, indexedTags) => {
    const folder = await mkdtemp(path.join(tmpdir(), 'flowfabric-'))
    const remove = () => rm(folder, { recursive: true, force: true })
    try {
      const file = path.join(folder, 'fabric.db')
      return { store: await openStore(`sqlite:${file}`, { runtime, indexedTags }), remove }
    } catch (error) {
      await remove()
      throw error
    }
  },
}

/** Many tests share a server, so each store has keys of its own under a prefix that nobody else uses. */
function server(name: string, location: string): StoreTarget {
  return {
    name,
    open: async (runtime, indexedTags) => {
      const prefix = `test:${randomUUID()}`
      const store = await openStore(`${location}?prefix=${prefix}`, { runtime, indexedTags, clock: 'runtime' })
      await untilListening(store)
      return { store, remove: async () => undefined }
    },
  }
}

/** The first wake-up of a partition says that it is listened to; from then on a test hears only of what it does itself. */
async function untilListening(store: Store): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<undefined>()
  const partitions = new Set<Partition>()
  store.onWake(({ partition }) => {
    if (partitions.add(partition).size === store.settings.executionPartitions) resolve(undefined)
  })
  await promise
}

const locations = serverLocations()

const servers: readonly StoreTarget[] =
  locations === undefined
    ? []
    : [
        server('valkey', locations.valkey),
        server('redis', locations.redis),
        server('valkey cluster', locations.cluster),
      ]

export const storeTargets: readonly StoreTarget[] = [memory, sqlite, ...servers]
