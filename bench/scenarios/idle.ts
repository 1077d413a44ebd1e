/** What engines ask of their servers while nothing happens, without a worker: one engine, and ten beside it in a filled store. */
import { setTimeout as sleep } from 'node:timers/promises'
import { task } from '../../src/client/index.ts'
import type { Engine } from '../../src/engine/index.ts'
import { RENEW_EVERY_MS } from '../../src/engine/runner/duties.ts'
import { createFabric } from '../../src/fabric/fabric.ts'
import type { Fabric } from '../../src/fabric/fabric.ts'
import { until } from '../../test/servers/until.ts'
import { freshStore, storeSettings, valkeyNodes } from '../bench-store.ts'
import { machineSettings } from '../machine.ts'
import type { Measurement } from '../measurement.ts'
import { prefixed } from '../metric-name.ts'
import type { Scenario, ScenarioRequest } from '../scenario.ts'
import { rounded } from '../statistics.ts'
import { ValkeyWatch, allCalls, functionCalls } from '../valkey-watch.ts'
import type { ValkeyUse } from '../valkey-watch.ts'
import { LANE, loadOf } from '../workload.ts'
import type { Load } from '../workload.ts'

const SECONDS = 60
const ENGINES = 10
/** Executions that are submitted in one call. */
const SUBMIT_COUNT = 500
const FIRST_SWEEP_LIMIT_MS = 10_000

const stored = task<Load, number>('bench.stored', { lane: LANE })

async function run({ store, say, options, ...request }: ScenarioRequest): Promise<Measurement> {
  const machine = machineSettings()
  const seconds = request.count ?? SECONDS
  const executions = options.executions ?? 0
  await using place = await freshStore(store)
  await using fabric = await createFabric(place.url)
  await fill(fabric, executions)
  const count = async (engines: number): Promise<ValkeyUse> => {
    say(`counting commands of ${engines} engines for ${seconds} s`)
    const watch = await ValkeyWatch.begin(valkeyNodes(place))
    await sleep(seconds * 1_000)
    return await watch.end()
  }

  await untilSwept(fabric.engine())
  const one = await count(1)
  await using others = new AsyncDisposableStack()
  for (let i = 1; i < ENGINES; i++) await untilSwept(others.use(await createFabric(place.url)).engine())
  // Engines that were there before learn with their next renewal which partitions are left to them.
  await sleep(RENEW_EVERY_MS)
  const ten = await count(ENGINES)
  return {
    metrics: { ...metricsOf(one, seconds), ...prefixed('tenEngines', metricsOf(ten, seconds)) },
    ratios: { tenEngines: rounded(ten.keyReads / one.keyReads) },
    settings: {
      seconds,
      executions,
      partitions: fabric.batcher.store.settings.executionPartitions,
      ...storeSettings[store],
      ...machine,
    },
  }
}

function metricsOf(use: ValkeyUse, seconds: number): Record<string, number> {
  return {
    readsPerSecond: rounded(use.keyReads / seconds),
    commandsPerSecond: rounded(allCalls(use).calls / seconds),
    functionCallsPerSecond: rounded(functionCalls(use).calls / seconds),
    serverCpuMicrosPerSecond: Math.round(use.cpuMicros / seconds),
    bytesPerSecond: Math.round((use.bytesIn + use.bytesOut) / seconds),
  }
}

async function fill(fabric: Fabric, count: number): Promise<void> {
  for (let from = 0; from < count; from += SUBMIT_COUNT) {
    const items = Array.from({ length: Math.min(SUBMIT_COUNT, count - from) }, (_, i) => ({ input: loadOf(from + i) }))
    await fabric.submitMany(stored, items)
  }
}

/** The due scanner has been everywhere once. */
async function untilSwept(engine: Engine): Promise<void> {
  const hasSwept = async (): Promise<true | undefined> => {
    const due = engine.status().find(({ scanner }) => scanner === 'due')
    return (due?.kind === 'enabled' && due.cycleCount > 0) || undefined
  }
  await until('the engine sweeps for the first time', FIRST_SWEEP_LIMIT_MS, hasSwept)
}

export const idle: Scenario = {
  summary: 'what one engine, and ten, ask of the servers while nothing happens; --count is in seconds',
  run,
}
