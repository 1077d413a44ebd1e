/** The stores that scenarios can run on, each in a place of its own that is gone afterwards. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'

export const benchStores = ['memory', 'sqlite'] as const
export type BenchStore = (typeof benchStores)[number]

/** How a SQLite file is written: what a process has acknowledged survives its crash, not every loss of power. */
export const SYNCHRONOUS = 'normal'

export interface StorePlace extends AsyncDisposable {
  readonly url: string
}

/** A store that nobody has used yet. */
export async function freshStore(store: BenchStore): Promise<StorePlace> {
  switch (store) {
    case 'memory':
      return { url: 'memory:', [Symbol.asyncDispose]: () => Promise.resolve() }
    case 'sqlite': {
      const folder = await freshFolder()
      return {
        url: `sqlite:${path.join(folder.path, 'bench.db')}?synchronous=${SYNCHRONOUS}`,
        [Symbol.asyncDispose]: folder[Symbol.asyncDispose],
      }
    }
  }
}

export interface Folder extends AsyncDisposable {
  readonly path: string
}

/** Lies where temporary files lie (TMPDIR), which decides on whose disk a file store is measured. */
export async function freshFolder(): Promise<Folder> {
  const folder = await mkdtemp(path.join(tmpdir(), 'flowfabric-bench-'))
  return { path: folder, [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }) }
}
