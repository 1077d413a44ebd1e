/**
 * BullMQ as its guide shows it: one queue and one worker in one process, each with connections of its own, and its safety
 * nets (lock renewal, stalled check, the event stream) at their defaults.
 */
import { Queue, Worker } from 'bullmq'
import type { StorePlace } from '../bench-store.ts'
import { LANE } from '../workload.ts'
import type { Load } from '../workload.ts'
import type { Peer, PeerSession, PreparedWorker, WorkOrder } from './peer.ts'

const JOB_NAME = 'noop'

export const bullmq: Peer = {
  name: 'bullmq',
  settings: {
    bullmqClient: 'ioredis',
    bullmqRemoveOnComplete: false,
    bullmqOtherOptions: 'defaults: lock 30 s, stalled check 30 s, event stream of about 10,000',
  },
  open: async (place) => {
    const connection = bullmqConnection(place.url)
    const queue = new Queue<Load, number>(LANE, { connection, defaultJobOptions: { removeOnComplete: false } })
    queue.on('error', fail)
    await queue.waitUntilReady()
    let worker: Worker<Load, number> | undefined
    const session: PeerSession = {
      submit: (load) => queue.add(JOB_NAME, load),
      prepareWorker: async (order) => {
        const { promise, resolve, reject } = Promise.withResolvers<undefined>()
        worker = createWorker(place, order, () => resolve(undefined), reject)
        await worker.waitUntilReady()
        return preparedWorker(worker, promise)
      },
      completedCount: () => queue.getCompletedCount(),
      async [Symbol.asyncDispose]() {
        await worker?.close()
        await queue.close()
      },
    }
    return session
  },
}

/** A worker's connection must never give up on a command by itself, or the worker refuses it. */
export function bullmqConnection(url: string) {
  const { hostname, port } = new URL(url)
  return { host: hostname, port: Number(port), maxRetriesPerRequest: null }
}

function createWorker(
  place: StorePlace,
  { count, concurrency, onStart }: WorkOrder,
  onAllStored: () => void,
  onError: (error: Error) => void,
): Worker<Load, number> {
  const worker = new Worker<Load, number>(
    LANE,
    async (job) => {
      onStart(job.data.number)
      return job.data.number
    },
    { connection: bullmqConnection(place.url), concurrency, autorun: false },
  )
  let storedCount = 0
  // Emitted when the store has acknowledged the result.
  worker.on('completed', () => {
    if (++storedCount === count) onAllStored()
  })
  worker.on('failed', (_job, error) => onError(error))
  worker.on('error', onError)
  return worker
}

function preparedWorker(worker: Worker, allStored: Promise<unknown>): PreparedWorker {
  return {
    start: async () => {
      // Settles only when the worker closes; its errors were emitted before.
      void worker.run().catch(() => undefined)
      await allStored
    },
  }
}

function fail(error: Error): never {
  throw error
}
