/** Drains a backlog that limits hold back or not, and counts the batches and operations that its executions take. */
import { limit, task } from '../../src/client/index.ts'
import { Client } from '../../src/client/client.ts'
import type { LimitUse } from '../../src/client/index.ts'
import { createFabric } from '../../src/fabric/fabric.ts'
import { startWorker } from '../../src/worker/worker.ts'
import { freshStore } from '../bench-store.ts'
import type { BenchStore } from '../bench-store.ts'
import { CONCURRENCY, PREFETCH } from '../stages.ts'
import { LANE, loadOf } from '../workload.ts'
import type { Load } from '../workload.ts'
import { countCalls } from './count-calls.ts'
import type { CallCount } from './count-calls.ts'

/** Executions that are submitted in one call. */
const SUBMIT_COUNT = 500
const PLENTY = 1_000_000_000

export interface Drain {
  readonly perSecond: number
  /** CPU time of the process for each execution. */
  readonly cpuMicros: number
  /** Between the first start and the last. */
  readonly startSeconds: number
  /** Batches that the worker sent to the store, and operations in them, for each execution. */
  readonly batches: number
  readonly operations: number
  /** Operations that concern permits and gates, for each execution. */
  readonly permitOperations: number
}

const generous = limit('bench.generous', { perDay: PLENTY, concurrency: PLENTY })
const capped = limit('bench.capped', { concurrency: PLENTY })

/** The limits of a drain. */
export const uses = {
  none: [],
  /** A rate and a cap that hold nothing back. */
  nonBinding: [generous],
  /** The same with a key for each execution. */
  keyPerExecution: [generous.for({ key: ({ number }: Load) => `key-${number}` })],
  /** A cap alone: its permits serve one execution after the other. */
  cap: [capped],
} satisfies Record<string, readonly LimitUse<Load>[]>

/** A rate that holds most of the backlog back. */
export function rateOf(perSecond: number): readonly LimitUse<Load>[] {
  return [limit('bench.rate', { perSecond })]
}

export async function measureDrain(
  store: BenchStore,
  count: number,
  limits: readonly LimitUse<Load>[],
): Promise<Drain> {
  await using place = await freshStore(store)
  await using fabric = await createFabric(place.url)
  const calls: CallCount = { batches: 0, operations: 0, permitOperations: 0 }
  const client = new Client(countCalls(fabric.store, calls), fabric.runtime)
  const definition = task<Load, number>('bench.limited', { lane: LANE, limits })
  for (let from = 0; from < count; from += SUBMIT_COUNT) {
    const numbers = Array.from({ length: Math.min(SUBMIT_COUNT, count - from) }, (_, i) => from + i)
    await client.submitMany(
      definition,
      numbers.map((number) => ({ input: loadOf(number) })),
    )
  }

  const startedAt: number[] = []
  const all = Promise.withResolvers<undefined>()
  const handler = definition.handle(({ number }) => {
    startedAt.push(performance.now())
    if (startedAt.length === count) all.resolve(undefined)
    return number
  })
  Object.assign(calls, { batches: 0, operations: 0, permitOperations: 0 })
  const cpuBefore = process.cpuUsage()
  const beganAt = performance.now()
  const worker = startWorker(client, [handler], { concurrency: CONCURRENCY, prefetch: PREFETCH[store] })
  await all.promise
  await worker.close()
  const seconds = (performance.now() - beganAt) / 1_000
  const { user, system } = process.cpuUsage(cpuBefore)
  await client.batcher.close()
  return {
    perSecond: count / seconds,
    cpuMicros: (user + system) / count,
    startSeconds: ((startedAt.at(-1) ?? 0) - (startedAt[0] ?? 0)) / 1_000,
    batches: calls.batches / count,
    operations: calls.operations / count,
    permitOperations: calls.permitOperations / count,
  }
}
