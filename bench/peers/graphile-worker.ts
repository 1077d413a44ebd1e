/**
 * Graphile Worker as its guide shows it, with and without its local queue: jobs are added one by one through its utilities
 * and run by one runner, each with connections of its own. It deletes a job that has succeeded and keeps no result.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { Logger, makeWorkerUtils, run } from 'graphile-worker'
import type { Runner, RunnerOptions } from 'graphile-worker'
import { Pool } from 'pg'
import { TASK_NAME } from '../workload.ts'
import type { Load } from '../workload.ts'
import type { Peer, PreparedWorker, WorkOrder } from './peer.ts'

/** Its default for adding jobs; with more it was slower. */
const ADDING_CONNECTIONS = 10
/** As its guide advises: two more than there are handlers. */
const SPARE_CONNECTIONS = 2
/** How long an ended job waits for others to be completed together with it: until the end of the turn. */
const COMPLETE_BATCH_DELAY_MS = 0
/** How often it is looked whether everything is completed, once the last handler has begun. */
const LOOK_EVERY_MS = 1

const LEFT = 'select count(*)::int as count from graphile_worker._private_jobs'
const IS_LEFT = 'select 1 from graphile_worker._private_jobs limit 1'

type WorkerOptions = NonNullable<NonNullable<RunnerOptions['preset']>['worker']>

const FINISHED = 'deleted by it, counted as gone; no results stored'

/** One job in each fetch and each completion, which is the default. */
export const graphileWorker = peerOf(
  'graphileWorker',
  {
    graphileWorkerLocalQueue: false,
    graphileWorkerConnections: `${ADDING_CONNECTIONS} to add, concurrency + ${SPARE_CONNECTIONS} to work`,
    graphileWorkerFinishedJobs: FINISHED,
  },
  () => ({}),
)

/** Jobs are fetched and completed in batches. */
export const graphileLocal = peerOf(
  'graphileLocal',
  {
    graphileLocalQueue: 'as many as prefetch',
    graphileLocalCompleteBatchDelayMs: COMPLETE_BATCH_DELAY_MS,
    graphileLocalConnections: `${ADDING_CONNECTIONS} to add, concurrency + ${SPARE_CONNECTIONS} to work`,
    graphileLocalFinishedJobs: FINISHED,
  },
  ({ prefetch }) => ({
    localQueue: { size: prefetch },
    completeJobBatchDelay: COMPLETE_BATCH_DELAY_MS,
    failJobBatchDelay: COMPLETE_BATCH_DELAY_MS,
  }),
)

/** Logs nothing; failures are reported by events. */
const logger = new Logger(() => () => undefined)

function peerOf(name: string, settings: Peer['settings'], workerOptions: (order: WorkOrder) => WorkerOptions): Peer {
  return {
    name,
    settings,
    open: async ({ url }) => {
      const adding = await connectedPool(url, ADDING_CONNECTIONS)
      const utils = await makeWorkerUtils({ pgPool: adding, logger })
      await utils.migrate()
      let runner: Runner | undefined
      let working: Pool | undefined
      let submittedCount = 0
      return {
        submit: async (load) => {
          await utils.addJob(TASK_NAME, load)
          submittedCount++
        },
        prepareWorker: async (order) => {
          const pool = await connectedPool(url, order.concurrency + SPARE_CONNECTIONS)
          working = pool
          return prepareWorker(pool, order, workerOptions(order), (started) => (runner = started))
        },
        completedCount: async () => {
          const { rows } = await adding.query<{ count: number }>(LEFT)
          return submittedCount - (rows[0]?.count ?? 0)
        },
        async [Symbol.asyncDispose]() {
          await runner?.stop()
          await utils.release()
          await Promise.all([adding.end(), working?.end()])
        },
      }
    },
  }
}

function prepareWorker(
  pgPool: Pool,
  { count, concurrency, onStart }: WorkOrder,
  options: WorkerOptions,
  onRunner: (runner: Runner) => void,
): PreparedWorker {
  const lastBegan = Promise.withResolvers<undefined>()
  let begunCount = 0
  const begin = (payload: unknown): void => {
    onStart((payload as Load).number)
    if (++begunCount === count) lastBegan.resolve(undefined)
  }
  return {
    start: async () => {
      const runner = await run({
        pgPool,
        logger,
        noHandleSignals: true,
        crontab: '',
        taskList: { [TASK_NAME]: begin },
        preset: { worker: { concurrentJobs: concurrency, ...options } },
      })
      onRunner(runner)
      runner.events.on('job:error', ({ error }) => lastBegan.reject(error))
      runner.events.on('pool:fatalError', ({ error }) => lastBegan.reject(error))
      await lastBegan.promise
      await untilGone(pgPool)
    },
  }
}

/** It emits nothing when the store has acknowledged the end of a job, but the job is gone then. */
async function untilGone(pool: Pool): Promise<void> {
  while ((await pool.query(IS_LEFT)).rows.length > 0) await sleep(LOOK_EVERY_MS)
}

/** All of its connections are open, as they would be in a program that has run for a while. */
async function connectedPool(connectionString: string, max: number): Promise<Pool> {
  const pool = new Pool({ connectionString, max })
  // Pending queries are rejected when a connection is lost.
  pool.on('error', () => undefined)
  pool.on('connect', (client) => client.on('error', () => undefined))
  const clients = await Promise.all(Array.from({ length: max }, () => pool.connect()))
  for (const client of clients) client.release()
  return pool
}
