/** What engines ask of their store while nothing happens, without a worker: one engine, and ten beside it in a filled store. */
import { setTimeout as sleep } from 'node:timers/promises'
import { task } from '../../src/client/index.ts'
import { RENEW_EVERY_MS } from '../../src/engine/runner/duties.ts'
import type { Fabric } from '../../src/fabric/fabric.ts'
import { until } from '../../test/servers/until.ts'
import { freshStore, storeSettings } from '../bench-store.ts'
import { IdleFleet } from '../idle/idle-fleet.ts'
import { machineSettings } from '../machine.ts'
import type { Measurement } from '../measurement.ts'
import { prefixed } from '../metric-name.ts'
import type { Scenario, ScenarioRequest } from '../scenario.ts'
import type { ServerUse } from '../server-watch.ts'
import { watchServers } from '../server-watch.ts'
import { rounded } from '../statistics.ts'
import { allCalls, functionCalls } from '../valkey-watch.ts'
import { LANE, loadOf } from '../workload.ts'
import type { Load } from '../workload.ts'

/** Long enough for several cycles of every reconciler that reads much. */
const SECONDS = 90
const ENGINES = 10
/** Executions that are submitted in one call, and calls that are under way at once. */
const SUBMIT_COUNT = 500
const SUBMITS_AT_ONCE = 8
/** The longest time between two cycles of the reconcilers that read most. */
const CYCLE_LIMIT_MS = 120_000

const stored = task<Load, number>('bench.stored', { lane: LANE })

/** What engines did in a time. */
interface Idleness {
  readonly seconds: number
  readonly operations: number
  readonly batches: number
  readonly server: ServerUse
}

async function run({ store, say, options, ...request }: ScenarioRequest): Promise<Measurement> {
  const machine = machineSettings()
  const seconds = request.count ?? SECONDS
  const executions = options.executions ?? 0
  await using place = await freshStore(store)
  await using fleet = new IdleFleet(place.url)
  const fabric = await fleet.start()
  await fill(fabric, executions, say)
  const count = async (engines: number): Promise<Idleness> => {
    await untilNextCycle(fleet)
    say(`counting what ${engines} engine${engines === 1 ? '' : 's'} read, for at least ${seconds} s`)
    const watch = await watchServers(place.servers)
    const before = fleet.calls()
    const startedAt = performance.now()
    await sleep(seconds * 1_000)
    // Whole cycles: the engine reads most of them at their beginning.
    await untilNextCycle(fleet)
    const elapsed = (performance.now() - startedAt) / 1_000
    const { operations, batches } = fleet.calls()
    return {
      seconds: elapsed,
      operations: operations - before.operations,
      batches: batches - before.batches,
      server: await watch.end(),
    }
  }

  const one = await count(1)
  for (let i = 1; i < ENGINES; i++) await fleet.start()
  // Engines that were there before learn with their next renewal which partitions are left to them.
  await sleep(RENEW_EVERY_MS)
  const ten = await count(ENGINES)
  return {
    metrics: { ...metricsOf(one), ...prefixed('tenEngines', metricsOf(ten)) },
    ratios: { tenEngines: rounded(readsOf(ten) / readsOf(one)) },
    settings: {
      seconds,
      executions,
      partitions: fabric.store.settings.executionPartitions,
      ...storeSettings[store],
      ...machine,
    },
  }
}

/** Per second: what the server read, or where the store is in the process, the operations that ran on it. */
function readsOf({ server, operations, seconds }: Idleness): number {
  switch (server.kind) {
    case 'valkey':
      return server.keyReads / seconds
    case 'postgres':
      return server.reads / seconds
    case 'none':
      return operations / seconds
  }
}

function metricsOf(found: Idleness): Record<string, number> {
  const { server, seconds } = found
  return {
    readsPerSecond: rounded(readsOf(found)),
    operationsPerSecond: rounded(found.operations / seconds),
    batchesPerSecond: rounded(found.batches / seconds),
    ...(server.kind === 'none' ? {} : { serverCpuMicrosPerSecond: Math.round(server.cpuMicros / seconds) }),
    ...(server.kind === 'postgres' ? { walBytesPerSecond: Math.round(server.walBytes / seconds) } : {}),
    ...(server.kind === 'valkey' ? valkeyMetrics(server, seconds) : {}),
  }
}

function valkeyMetrics(use: Extract<ServerUse, { kind: 'valkey' }>, seconds: number): Record<string, number> {
  return {
    commandsPerSecond: rounded(allCalls(use).calls / seconds),
    functionCallsPerSecond: rounded(functionCalls(use).calls / seconds),
    bytesPerSecond: Math.round((use.bytesIn + use.bytesOut) / seconds),
  }
}

async function fill(fabric: Fabric, count: number, say: (text: string) => void): Promise<void> {
  const starts = Array.from({ length: Math.ceil(count / SUBMIT_COUNT) }, (_, i) => i * SUBMIT_COUNT)
  let filled = 0
  const fillOn = async (): Promise<void> => {
    for (let from = starts.shift(); from !== undefined; from = starts.shift()) {
      const first = from
      const length = Math.min(SUBMIT_COUNT, count - first)
      await fabric.submitMany(
        stored,
        Array.from({ length }, (_, i) => ({ input: loadOf(first + i) })),
      )
      filled += length
      if (filled % 100_000 === 0) say(`filled with ${filled} executions`)
    }
  }
  await Promise.all(Array.from({ length: SUBMITS_AT_ONCE }, fillOn))
}

/** The first engine has ended a cycle of the reconciler that reads most. */
async function untilNextCycle(fleet: IdleFleet): Promise<void> {
  const before = fleet.cycleCount('index_reconciler')
  await until('the reconciler ends a cycle', CYCLE_LIMIT_MS, async () => {
    return fleet.cycleCount('index_reconciler') > before || undefined
  })
}

export const idle: Scenario = {
  summary: 'what one engine, and ten, read of the store while nothing happens; --count is in seconds',
  run,
}
