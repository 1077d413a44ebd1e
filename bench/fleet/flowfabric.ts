/** One process of a fleet of FlowFabric: a fabric that submits, with a worker and the engine. */
import { task } from '../../src/client/index.ts'
import type { SubmitOptions } from '../../src/client/index.ts'
import { createFabric } from '../../src/fabric/fabric.ts'
import { ownUse } from '../processes/process-use.ts'
import { LANE, TASK_NAME } from '../workload.ts'
import type { Load } from '../workload.ts'
import type { MemberSystem } from './member.ts'
import { ATTEMPTS, RETRY_BACKOFF_MS, SUBMIT_DELAY_MS, failsFirst, isDelayed } from './timers.ts'
import type { Timers } from './timers.ts'

const noop = task<Load, number>(TASK_NAME, { lane: LANE })

export const flowfabricMember: MemberSystem = {
  open: async ({ url, concurrency, prefetch, timers }) => {
    const fabric = await createFabric(url)
    const handler = noop.handle(({ number }, { attempt }) => {
      if (attempt === 1 && failsFirst(number, timers)) throw new Error('The first attempt fails.')
      return number
    })
    const worker = await fabric.work([handler], { concurrency, prefetch })
    return {
      submit: (load) => fabric.submit(noop, load, submitOptions(load.number, timers)),
      completedCount: () => worker.stats().settled.completed,
      storedCount: async () => (await fabric.lanes(LANE))[0]?.counts.completed ?? 0,
      use: () => ownUse(fabric.batcher.store),
      [Symbol.asyncDispose]: () => fabric.close(),
    }
  },
}

function submitOptions(number: number, timers: Timers): SubmitOptions {
  const backoff = { kind: 'fixed', delay: RETRY_BACKOFF_MS } as const
  return {
    ...(isDelayed(number, timers) && { delay: SUBMIT_DELAY_MS }),
    ...(timers.retryShare > 0 && { retry: { attempts: ATTEMPTS, backoff, jitter: false } }),
  }
}
