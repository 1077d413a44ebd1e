/** The program of one process that completes members of flows which another process has submitted. */
import { createFabric } from '../../src/fabric/fabric.ts'
import type { Fabric } from '../../src/fabric/fabric.ts'
import { serveParent } from '../processes/duties.ts'
import { ownUse } from '../processes/process-use.ts'
import type { ProcessUse } from '../processes/process-use.ts'
import { pieceHandler } from './fan-flow.ts'

export interface WorkerOrder {
  readonly url: string
  readonly concurrency: number
  readonly prefetch: number
}

export type WorkerDuties = {
  readonly open: (order: WorkerOrder) => Promise<void>
  readonly use: (input: null) => Promise<ProcessUse>
  readonly close: (input: null) => Promise<void>
}

let fabric: Fabric | undefined

function opened(): Fabric {
  if (fabric === undefined) throw new Error('The process has no open store.')
  return fabric
}

const duties: WorkerDuties = {
  open: async ({ url, concurrency, prefetch }) => {
    fabric = await createFabric(url)
    await fabric.work([pieceHandler], { concurrency, prefetch })
  },
  use: async () => ownUse(opened().batcher.store),
  close: async () => {
    await opened().close()
    fabric = undefined
  },
}

serveParent(duties)
