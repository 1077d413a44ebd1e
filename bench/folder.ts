/** A folder for one measurement, gone afterwards. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'

export interface Folder extends AsyncDisposable {
  readonly path: string
}

/** Lies where temporary files lie (TMPDIR), which decides on whose disk a store is measured. */
export async function freshFolder(): Promise<Folder> {
  const folder = await mkdtemp(path.join(tmpdir(), 'flowfabric-bench-'))
  return { path: folder, [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }) }
}
