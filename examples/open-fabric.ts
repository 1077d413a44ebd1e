/** Where an example keeps its work: at the location on its command line, else in a SQLite file that goes with the program. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { createFabric } from '../src/index.ts'
import type { Fabric } from '../src/index.ts'

export interface OpenFabric extends AsyncDisposable {
  readonly fabric: Fabric
}

export async function openFabric(): Promise<OpenFabric> {
  const location = process.argv[2]
  if (location !== undefined) {
    const fabric = await createFabric(location)
    return { fabric, [Symbol.asyncDispose]: () => fabric.close() }
  }
  const folder = await mkdtemp(path.join(tmpdir(), 'flowfabric-example-'))
  const fabric = await createFabric(`sqlite:${path.join(folder, 'fabric.db')}`)
  return {
    fabric,
    [Symbol.asyncDispose]: async () => {
      await fabric.close()
      await rm(folder, { recursive: true })
    },
  }
}
