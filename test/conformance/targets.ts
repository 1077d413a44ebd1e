/** Every store that the suite runs on. A new store joins with one entry here; no test knows which store it meets. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { Runtime } from '../../src/runtime/index.ts'
import { openStore } from '../../src/stores/open-store.ts'
import type { Store } from '../../src/stores/store.ts'

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

export const storeTargets: readonly StoreTarget[] = [memory, sqlite]
