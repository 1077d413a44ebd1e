/** What a fabric asks of its servers while nothing happens: one engine, no worker, nothing stored. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Engine } from '../../src/engine/index.ts'
import { createFabric } from '../../src/fabric/fabric.ts'
import { until } from '../../test/servers/until.ts'
import { freshStore, storeSettings, valkeyNodes } from '../bench-store.ts'
import { machineSettings } from '../machine.ts'
import type { Measurement } from '../measurement.ts'
import type { Scenario, ScenarioRequest } from '../scenario.ts'
import { rounded } from '../statistics.ts'
import { ValkeyWatch, allCalls, functionCalls } from '../valkey-watch.ts'

const SECONDS = 60
const FIRST_SWEEP_LIMIT_MS = 10_000

async function run({ store, say, ...request }: ScenarioRequest): Promise<Measurement> {
  const machine = machineSettings()
  const seconds = request.count ?? SECONDS
  await using place = await freshStore(store)
  await using fabric = await createFabric(place.url)
  await untilSwept(fabric.engine())

  say(`counting commands for ${seconds} s`)
  const watch = await ValkeyWatch.begin(valkeyNodes(place))
  await sleep(seconds * 1_000)
  const use = await watch.end()
  for (const [name, { calls }] of use.commands) say(`${name}: ${calls}`)
  return {
    metrics: {
      commandsPerSecond: rounded(allCalls(use).calls / seconds),
      functionCallsPerSecond: rounded(functionCalls(use).calls / seconds),
      serverCpuMicrosPerSecond: Math.round(use.cpuMicros / seconds),
      bytesPerSecond: Math.round((use.bytesIn + use.bytesOut) / seconds),
    },
    ratios: {},
    settings: {
      seconds,
      partitions: fabric.batcher.store.settings.executionPartitions,
      ...storeSettings[store],
      ...machine,
    },
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
  summary: 'what one engine asks of the servers while nothing happens; --count is in seconds',
  run,
}
