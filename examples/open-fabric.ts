/** Opens the store of an example: the location on its command line, or a SQLite file that is removed at the end. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { createFabric } from '../src/index.ts'
import type { Fabric, FabricOptions } from '../src/index.ts'

export interface OpenFabric extends AsyncDisposable {
  readonly fabric: Fabric
  /** The location, for other processes that use the same store. */
  readonly location: string
}

export async function openFabric(options: FabricOptions = {}): Promise<OpenFabric> {
  const given = process.argv[2]
  if (given !== undefined) {
    const fabric = await createFabric(given, options)
    return { fabric, location: given, [Symbol.asyncDispose]: () => fabric.close() }
  }
  const folder = await mkdtemp(path.join(tmpdir(), 'flowfabric-example-'))
  const location = `sqlite:${path.join(folder, 'fabric.db')}`
  const fabric = await createFabric(location, options)
  return {
    fabric,
    location,
    [Symbol.asyncDispose]: async () => {
      await fabric.close()
      await rm(folder, { recursive: true })
    },
  }
}
