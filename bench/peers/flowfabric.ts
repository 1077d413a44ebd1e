/** FlowFabric as a program uses it: one fabric with a worker and the engine in one process. */
import { setTimeout as sleep } from 'node:timers/promises'
import { task } from '../../src/client/index.ts'
import { BATCH_BYTES, BATCH_OPERATION_LIMIT } from '../../src/kernel/index.ts'
import { createFabric } from '../../src/fabric/fabric.ts'
import type { Fabric } from '../../src/fabric/fabric.ts'
import type { Worker } from '../../src/worker/worker.ts'
import { LANE, TASK_NAME } from '../workload.ts'
import type { Load } from '../workload.ts'
import type { Peer, PreparedWorker, WorkOrder } from './peer.ts'

/** How often it is looked whether everything is acknowledged, once the last handler has begun. */
const LOOK_EVERY_MS = 1

const noop = task<Load, number>(TASK_NAME, { lane: LANE })

export const flowfabric: Peer = {
  name: 'flowfabric',
  settings: { batchOperations: BATCH_OPERATION_LIMIT, batchBytes: BATCH_BYTES },
  open: async (place) => {
    const fabric = await createFabric(place.url)
    return {
      submit: (load) => fabric.submit(noop, load),
      prepareWorker: async (order) => prepareWorker(fabric, order),
      completedCount: async () => (await fabric.lanes(LANE))[0]?.counts.completed ?? 0,
      [Symbol.asyncDispose]: () => fabric.close(),
    }
  },
}

function prepareWorker(fabric: Fabric, { count, concurrency, prefetch, onStart }: WorkOrder): PreparedWorker {
  const lastBegan = Promise.withResolvers<undefined>()
  let begunCount = 0
  const handler = noop.handle(({ number }) => {
    onStart(number)
    if (++begunCount === count) lastBegan.resolve(undefined)
    return number
  })
  return {
    start: async () => {
      const worker = await fabric.work([handler], { concurrency, prefetch })
      await lastBegan.promise
      await untilCompleted(worker, count)
    },
  }
}

/** The worker counts what the store has acknowledged. */
async function untilCompleted(worker: Worker, count: number): Promise<void> {
  while (worker.stats().settled.completed < count) await sleep(LOOK_EVERY_MS)
}
