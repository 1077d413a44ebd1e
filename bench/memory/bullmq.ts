/** Jobs of BullMQ in each state. They are claimed directly, so that any number can be active at once. */
import { Queue, Worker } from 'bullmq'
import type { Job } from 'bullmq'
import { withInFlight } from '../load.ts'
import { bullmqConnection } from '../peers/bullmq.ts'
import { LANE, loadOf } from '../workload.ts'
import type { Load } from '../workload.ts'
import { GROWING_IN_FLIGHT, HOLD_MS, RESULT } from './population.ts'
import type { Populator } from './population.ts'

const JOB_NAME = 'noop'

export const bullmqPopulator: Populator = {
  name: 'bullmq',
  open: async (server) => {
    const connection = bullmqConnection(server.location)
    const queue = new Queue<Load>(LANE, { connection, defaultJobOptions: { removeOnComplete: false } })
    const worker = new Worker<Load>(LANE, null, { connection, autorun: false, lockDuration: HOLD_MS })
    await Promise.all([queue.waitUntilReady(), worker.waitUntilReady()])
    const held: Job<Load>[] = []
    return {
      create: (count) => withInFlight(count, GROWING_IN_FLIGHT, (number) => queue.add(JOB_NAME, loadOf(number))),
      claim: (count) =>
        withInFlight(count, GROWING_IN_FLIGHT, async (number) => {
          // As long as the ones that a worker makes for itself.
          held.push(await worker.getNextJob(`${worker.id}:${number}`, { block: false }))
        }),
      complete: (count) =>
        withInFlight(count, GROWING_IN_FLIGHT, async () => {
          const job = held.pop()
          await job?.moveToCompleted(RESULT, job.token ?? '', false)
        }),
      async [Symbol.asyncDispose]() {
        await worker.close()
        await queue.close()
      },
    }
  },
}
