/** Drains a backlog that limits hold back or not, and counts the batches and operations that its executions take. */
import { limit, task } from '../../src/client/index.ts'
import { Client } from '../../src/client/client.ts'
import type { LimitUse } from '../../src/client/index.ts'
import type { BudgetUse } from '../../src/client/define/budget.ts'
import { createFabric } from '../../src/fabric/fabric.ts'
import { startWorker } from '../../src/worker/worker.ts'
import { freshStore } from '../bench-store.ts'
import type { BenchStore } from '../bench-store.ts'
import { watchServers } from '../server-watch.ts'
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
  /** CPU time of the servers of the store for each execution. */
  readonly serverMicros: number
  /** When handlers started, in milliseconds. */
  readonly startedAt: readonly number[]
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

/** Work that is drained in the store before the measurement. What it leaves there remains. */
export interface EarlierDrain {
  readonly count: number
  readonly limits: readonly LimitUse<Load>[]
}

export async function measureDrain(
  store: BenchStore,
  count: number,
  limits: readonly LimitUse<Load>[],
  budgets: readonly BudgetUse<Load>[] = [],
  earlier?: EarlierDrain,
): Promise<Drain> {
  await using place = await freshStore(store)
  await using fabric = await createFabric(place.url)
  const calls: CallCount = { batches: 0, operations: 0, permitOperations: 0 }
  const client = new Client(countCalls(fabric.store, calls), fabric.runtime)
  if (earlier !== undefined) {
    const before = taskWith('bench.earlier', earlier.limits)
    await submitAll(client, before, earlier.count)
    await drain(client, before, earlier.count, store)
  }
  const definition = taskWith('bench.limited', limits, budgets)
  await submitAll(client, definition, count)

  Object.assign(calls, { batches: 0, operations: 0, permitOperations: 0 })
  const watch = await watchServers(place.servers)
  const cpuBefore = process.cpuUsage()
  const beganAt = performance.now()
  const startedAt = await drain(client, definition, count, store)
  const seconds = (performance.now() - beganAt) / 1_000
  const { user, system } = process.cpuUsage(cpuBefore)
  const servers = await watch.end()
  await client.batcher.close()
  return {
    perSecond: count / seconds,
    cpuMicros: (user + system) / count,
    serverMicros: servers.cpuMicros / count,
    startedAt,
    batches: calls.batches / count,
    operations: calls.operations / count,
    permitOperations: calls.permitOperations / count,
  }
}

type LimitedTask = ReturnType<typeof taskWith>

function taskWith(name: string, limits: readonly LimitUse<Load>[], budgets: readonly BudgetUse<Load>[] = []) {
  return task<Load, number>(name, { lane: LANE, limits, budgets })
}

async function submitAll(client: Client, definition: LimitedTask, count: number): Promise<void> {
  for (let from = 0; from < count; from += SUBMIT_COUNT) {
    const numbers = Array.from({ length: Math.min(SUBMIT_COUNT, count - from) }, (_, i) => from + i)
    await client.submitMany(
      definition,
      numbers.map((number) => ({ input: loadOf(number) })),
    )
  }
}

/** Runs so many executions with one worker, and returns when their handlers started. */
async function drain(
  client: Client,
  definition: LimitedTask,
  count: number,
  store: BenchStore,
): Promise<readonly number[]> {
  const startedAt: number[] = []
  const all = Promise.withResolvers<undefined>()
  const handler = definition.handle(({ number }) => {
    startedAt.push(performance.now())
    if (startedAt.length === count) all.resolve(undefined)
    return number
  })
  const worker = startWorker(client, [handler], { concurrency: CONCURRENCY, prefetch: PREFETCH[store] })
  await all.promise
  await worker.close()
  return startedAt
}

/**
 * Returns how many starts of a rate per second there were in a second: for each start of the first window, the time until as many
 * windows later. However the starts of a window are spread over it, this is the rate in the long run.
 */
export function rateOfStarts(startedAt: readonly number[], perSecond: number): number {
  const windows = Math.floor(startedAt.length / perSecond) - 1
  const behind = startedAt.slice(windows * perSecond)
  const ms = behind.reduce((sum, at, i) => sum + at - (startedAt[i] ?? at), 0) / behind.length
  return (perSecond * windows * 1_000) / ms
}
