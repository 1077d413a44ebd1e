/** Handlers that report spending one call after the other, all on one key of a budget or each call on another key. */
import { budget, task } from '../../src/client/index.ts'
import { Client } from '../../src/client/client.ts'
import { createFabric } from '../../src/fabric/fabric.ts'
import { startWorker } from '../../src/worker/worker.ts'
import { freshStore } from '../bench-store.ts'
import type { BenchStore } from '../bench-store.ts'
import { watchServers } from '../server-watch.ts'
import { countCalls } from '../limits/count-calls.ts'
import type { CallCount } from '../limits/count-calls.ts'

export const HANDLERS = 16
const PLENTY = 1_000_000_000

export interface Spends {
  readonly perSecond: number
  /** CPU time of the process for each spend. */
  readonly cpuMicros: number
  /** CPU time of the servers of the store. */
  readonly serverMicros: number
  /** Batches that the process sent to the store for each spend. */
  readonly batches: number
}

const total = budget('bench.total', { hard: { tokens: PLENTY } })
const spenders = budget<Part>('bench.spenders', { parent: total, key: ({ key }) => key, hard: { tokens: PLENTY } })

interface Part {
  readonly key: string
  readonly from: number
  readonly count: number
}

/** Spends `count` times by 16 handlers at once. Each execution spends its part on one of `keys` keys. */
export async function measureSpends(store: BenchStore, count: number, keys: number): Promise<Spends> {
  await using place = await freshStore(store)
  await using fabric = await createFabric(place.url)
  const calls: CallCount = { batches: 0, operations: 0, permitOperations: 0 }
  const client = new Client(countCalls(fabric.store, calls), fabric.runtime)
  const executions = Math.max(HANDLERS, keys)
  const each = Math.ceil(count / executions)
  const budgets = keys === 1 ? [total] : [spenders]
  const definition = task<Part>('bench.spend', { budgets })
  let first = Infinity
  let spent = 0
  const all = Promise.withResolvers<number>()
  const handler = definition.handle(async ({ count: own }, ctx) => {
    first = Math.min(first, performance.now())
    for (let i = 0; i < own; i++) await ctx.spend({ tokens: 1 })
    spent += own
    if (spent >= each * executions) all.resolve(performance.now())
  })
  await client.submitMany(
    definition,
    Array.from({ length: executions }, (_, i) => ({ input: { key: `key-${i % keys}`, from: i * each, count: each } })),
  )
  Object.assign(calls, { batches: 0, operations: 0, permitOperations: 0 })
  const watch = await watchServers(place.servers)
  const cpuBefore = process.cpuUsage()
  const worker = startWorker(client, [handler], { concurrency: HANDLERS })
  const last = await all.promise
  const { user, system } = process.cpuUsage(cpuBefore)
  const servers = await watch.end()
  await worker.close()
  await client.batcher.close()
  return {
    perSecond: spent / ((last - first) / 1_000),
    cpuMicros: (user + system) / spent,
    serverMicros: servers.cpuMicros / spent,
    batches: calls.batches / spent,
  }
}
