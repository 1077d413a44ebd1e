/** One process of a fleet of BullMQ: a queue and a worker as in `bench/peers/bullmq.ts`. */
import { Queue, Worker } from 'bullmq'
import type { JobsOptions } from 'bullmq'
import { bullmqConnection } from '../peers/bullmq.ts'
import { ownUse } from '../processes/process-use.ts'
import { LANE } from '../workload.ts'
import type { Load } from '../workload.ts'
import type { MemberSystem } from './member.ts'
import { ATTEMPTS, RETRY_BACKOFF_MS, SUBMIT_DELAY_MS, failsFirst, isDelayed } from './timers.ts'
import type { Timers } from './timers.ts'

const JOB_NAME = 'noop'

export const bullmqMember: MemberSystem = {
  open: async ({ url, concurrency, timers }) => {
    const connection = bullmqConnection(url)
    const queue = new Queue<Load, number>(LANE, { connection, defaultJobOptions: { removeOnComplete: false } })
    const worker = new Worker<Load, number>(
      LANE,
      async ({ data: { number }, attemptsMade }) => {
        if (attemptsMade === 0 && failsFirst(number, timers)) throw new Error('The first attempt fails.')
        return number
      },
      { connection, concurrency },
    )
    let completedCount = 0
    worker.on('completed', () => (completedCount += 1))
    worker.on('failed', (job, error) => {
      if (job === undefined || job.attemptsMade >= (job.opts.attempts ?? 1)) throw error
    })
    // Thrown out of a listener, an error ends the process, which the measurement reports.
    queue.on('error', fail)
    worker.on('error', fail)
    await Promise.all([queue.waitUntilReady(), worker.waitUntilReady()])
    return {
      submit: (load) => queue.add(JOB_NAME, load, jobOptions(load.number, timers)),
      completedCount: () => completedCount,
      storedCount: () => queue.getCompletedCount(),
      use: () => ownUse(undefined),
      async [Symbol.asyncDispose]() {
        await worker.close()
        await queue.close()
      },
    }
  },
}

function jobOptions(number: number, timers: Timers): JobsOptions {
  return {
    ...(isDelayed(number, timers) && { delay: SUBMIT_DELAY_MS }),
    ...(timers.retryShare > 0 && { attempts: ATTEMPTS, backoff: { type: 'fixed', delay: RETRY_BACKOFF_MS } }),
  }
}

function fail(error: Error): never {
  throw error
}
