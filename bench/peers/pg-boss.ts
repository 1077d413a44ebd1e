/**
 * pg-boss as its guide shows it: one instance that sends and works, with its maintenance, schedules and expiration as they
 * are by default. It polls; with a second setting it is also notified of new jobs, which makes a start
 * soon and everything else slower, so that it is measured both ways.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { Client } from 'pg'
import { PgBoss } from 'pg-boss'
import type { Job } from 'pg-boss'
import { withInFlight } from '../load.ts'
import { LANE } from '../workload.ts'
import type { Load } from '../workload.ts'
import type { Peer, PreparedWorker, WorkOrder } from './peer.ts'

/** Few workers with large batches: jobs are fetched and completed by the batch. Two, so that one fetches while one works. */
const WORKERS = 2
const CONNECTIONS = 20
/** The least that it takes. A worker that got a full batch does not wait at all. */
const POLLING_SECONDS = 0.5
/** How often it is looked whether everything is acknowledged, once the last handler has begun. */
const LOOK_EVERY_MS = 1

const COMPLETED = `select count(*)::int as count from pgboss.job where name = $1 and state = 'completed'`

export const pgBoss = peerOf('pgBoss', false)
export const pgBossNotify = peerOf('pgBossNotify', true)

function peerOf(name: string, isNotified: boolean): Peer {
  return {
    name,
    settings: {
      [`${name}Workers`]: `${WORKERS}, each fetches and completes a batch and runs an equal share of the handlers at once`,
      [`${name}Batch`]: 'an equal share of concurrency + prefetch, the next one at once while batches are full',
      [`${name}PollingSeconds`]: POLLING_SECONDS,
      [`${name}ListenNotify`]: isNotified,
      [`${name}Connections`]: CONNECTIONS,
      [`${name}OtherOptions`]: 'defaults: finished jobs kept for 7 days, no results of batches stored, maintenance on',
    },
    open: async ({ url }) => {
      const failed = Promise.withResolvers<never>()
      failed.promise.catch(() => undefined)
      const boss = new PgBoss({ connectionString: url, max: CONNECTIONS, useListenNotify: isNotified })
      boss.on('error', failed.reject)
      await boss.start()
      await boss.createQueue(LANE, { notify: isNotified })
      // Opens all connections, as they would be in a program that has run for a while.
      await Promise.all(Array.from({ length: CONNECTIONS }, () => boss.isInstalled()))
      return {
        submit: (load) => boss.send(LANE, load),
        prepareWorker: async (order) => prepareWorker(boss, order, failed.promise),
        completedCount: () => completedCount(url),
        [Symbol.asyncDispose]: () => boss.stop({ graceful: false }),
      }
    },
  }
}

function prepareWorker(boss: PgBoss, order: WorkOrder, failed: Promise<never>): PreparedWorker {
  const { count, concurrency, prefetch, onStart } = order
  const lastBegan = Promise.withResolvers<undefined>()
  let begunCount = 0
  const begin = ({ data: { number } }: Job<Load>): void => {
    onStart(number)
    if (++begunCount === count) lastBegan.resolve(undefined)
  }
  const options = {
    localConcurrency: WORKERS,
    batchSize: Math.ceil((concurrency + prefetch) / WORKERS),
    burstWhenBatchFull: true,
    pollingIntervalSeconds: POLLING_SECONDS,
  }
  const handle = async (jobs: readonly Job<Load>[]): Promise<void> => {
    const rest = jobs.values()
    await withInFlight(jobs.length, concurrency / WORKERS, async () => {
      const { value } = rest.next()
      if (value !== undefined) begin(value)
    })
  }
  return {
    start: async () => {
      await boss.work<Load>(LANE, options, handle)
      await Promise.race([lastBegan.promise, failed])
      await Promise.race([untilSettled(boss), failed])
    },
  }
}

/** A worker holds a batch until the store has acknowledged its end. */
async function untilSettled(boss: PgBoss): Promise<void> {
  while (boss.getWipData().some(({ name, count }) => name === LANE && count > 0)) await sleep(LOOK_EVERY_MS)
}

async function completedCount(url: string): Promise<number> {
  const client = new Client(url)
  await client.connect()
  try {
    const { rows } = await client.query<{ count: number }>(COMPLETED, [LANE])
    return rows[0]?.count ?? 0
  } finally {
    await client.end()
  }
}
