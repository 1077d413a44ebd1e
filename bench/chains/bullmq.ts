/**
 * Chains of BullMQ as its guide shows them: a tree in which every job has one child, added in one call by a flow producer. A
 * job waits for its child and reads from the store what the child answered. Everything else is as it is by default.
 */
import { FlowProducer, Queue, Worker } from 'bullmq'
import type { FlowJob, Job } from 'bullmq'
import { bullmqConnection } from '../peers/bullmq.ts'
import { LANE } from '../workload.ts'
import type { ChainPeer } from './chain-peer.ts'

const JOB_NAME = 'link'

interface LinkData {
  /** Of the chain. */
  readonly number: number
  /** Links before this one in its chain. */
  readonly place: number
}

export const bullmqChains: ChainPeer = {
  name: 'bullmq',
  settings: {
    bullmqClient: 'ioredis',
    bullmqValues: 'each link reads what its child answered',
    bullmqOtherOptions: 'defaults: finished jobs kept, lock 30 s, stalled check 30 s, event stream of about 10,000',
  },
  open: async (place, { length, concurrency }) => {
    const connection = bullmqConnection(place.url)
    const failed = Promise.withResolvers<never>()
    failed.promise.catch(() => undefined)
    const producer = new FlowProducer({ connection })
    const queue = new Queue<LinkData, number>(LANE, { connection })
    const worker = new Worker<LinkData, number>(LANE, answer, { connection, concurrency })
    producer.on('error', failed.reject)
    queue.on('error', failed.reject)
    worker.on('error', failed.reject)
    await Promise.all([producer.waitUntilReady(), queue.waitUntilReady(), worker.waitUntilReady()])

    const ends = new Map<number, (answered: number) => void>()
    // Emitted when the store has acknowledged the result.
    worker.on('completed', ({ data }, answered) => {
      if (data.place === length - 1) ends.get(data.number)?.(answered)
    })
    worker.on('failed', (_job, error) => failed.reject(error))
    return {
      run: async (number) => {
        const ended = new Promise<number>((resolve) => ends.set(number, resolve))
        await producer.add(linkJob(number, length - 1))
        return await Promise.race([ended, failed.promise])
      },
      completedLinkCount: () => queue.getCompletedCount(),
      async [Symbol.asyncDispose]() {
        await worker.close()
        await Promise.all([producer.close(), queue.close()])
      },
    }
  },
}

/** A link with all that run before it. */
function linkJob(number: number, place: number): FlowJob {
  const data: LinkData = { number, place }
  const before = place === 0 ? {} : { children: [linkJob(number, place - 1)] }
  return { name: JOB_NAME, queueName: LANE, data, ...before }
}

async function answer(job: Job<LinkData, number>): Promise<number> {
  if (job.data.place === 0) return job.data.number + 1
  const [given] = Object.values(await job.getChildrenValues<number>())
  if (given === undefined) throw new Error('A link has not been given what the one before it answered.')
  return given + 1
}
