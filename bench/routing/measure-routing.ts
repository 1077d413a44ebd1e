/**
 * Times a backlog that many workers of one process drain, with and without needs. With needs, each execution needs one of several
 * kinds of workers, which learn of the needs from the store. Both have the same workers, executions and slots.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { task } from '../../src/client/index.ts'
import { createFabric } from '../../src/fabric/fabric.ts'
import type { Fabric } from '../../src/fabric/fabric.ts'
import { startWorker } from '../../src/worker/worker.ts'
import type { Worker } from '../../src/worker/worker.ts'
import { freshStore } from '../bench-store.ts'
import type { BenchStore } from '../bench-store.ts'
import { LANE, loadOf } from '../workload.ts'
import type { Load } from '../workload.ts'

/** Kinds of workers, and combinations of needs. */
export const KINDS = 10
export const WORKERS = 100
/** Handlers that one worker runs at once: few, so that the fleet is no larger than that of other scenarios. */
export const WORKER_CONCURRENCY = 4

/** Executions that are submitted in one call. */
const SUBMIT_COUNT = 500
const LOOK_EVERY_MS = 2

export interface RoutingOrder {
  readonly store: BenchStore
  /** Executions in the backlog. */
  readonly count: number
  readonly isRouted: boolean
}

const routed = task<Load, number>('bench.routed', { lane: LANE })

export interface RoutedDrain {
  /** Executions that ended, from the start of the workers to the last end. */
  readonly perSecond: number
  /** CPU time of the process for each of them. */
  readonly cpuMicros: number
}

export async function measureRouting({ store, count, isRouted }: RoutingOrder): Promise<RoutedDrain> {
  await using place = await freshStore(store)
  await using fabric = await createFabric(place.url)
  await submitBacklog(fabric, count, isRouted)
  let ended = 0
  const handler = routed.handle(({ number }) => number)
  const cpuBefore = process.cpuUsage()
  const startedAt = performance.now()
  const workers = Array.from({ length: WORKERS }, (_, i) =>
    startWorker(fabric, [handler], {
      concurrency: WORKER_CONCURRENCY,
      prefetch: WORKER_CONCURRENCY,
      ...(isRouted ? { capabilities: [kindOf(i)] } : {}),
    }),
  )
  while (ended < count) {
    await sleep(LOOK_EVERY_MS)
    ended = endedBy(workers)
  }
  const perSecond = (count / (performance.now() - startedAt)) * 1_000
  const { user, system } = process.cpuUsage(cpuBefore)
  await Promise.all(workers.map((worker) => worker.close()))
  return { perSecond: Math.round(perSecond), cpuMicros: (user + system) / count }
}

async function submitBacklog(fabric: Fabric, count: number, isRouted: boolean): Promise<void> {
  for (let from = 0; from < count; from += SUBMIT_COUNT) {
    const numbers = Array.from({ length: Math.min(SUBMIT_COUNT, count - from) }, (_, i) => from + i)
    await fabric.submitMany(
      routed,
      numbers.map((number) => ({
        input: loadOf(number),
        options: isRouted ? { needs: [kindOf(number)] } : {},
      })),
    )
  }
}

function endedBy(workers: readonly Worker[]): number {
  return workers.reduce((sum, worker) => sum + worker.stats().settled.completed, 0)
}

function kindOf(number: number): string {
  return `kind:${number % KINDS}`
}
