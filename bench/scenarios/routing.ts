/** A backlog of several combinations of needs for a hundred workers, beside the same backlog without needs. */
import { storeSettings } from '../bench-store.ts'
import { machineSettings } from '../machine.ts'
import type { Measurement } from '../measurement.ts'
import { rotated } from '../rotation.ts'
import { KINDS, WORKERS, WORKER_CONCURRENCY, measureRouting } from '../routing/measure-routing.ts'
import type { RoutedDrain } from '../routing/measure-routing.ts'
import type { Scenario, ScenarioRequest } from '../scenario.ts'
import { median, rounded } from '../statistics.ts'

const COUNT = 10_000
const ROUNDS = 3
const WARM_UP_COUNT = 1_000

async function run({ store, say, ...request }: ScenarioRequest): Promise<Measurement> {
  const machine = machineSettings()
  const count = request.count ?? COUNT
  const roundCount = request.rounds ?? ROUNDS
  say('warming up')
  for (const isRouted of [true, false]) await measureRouting({ store, count: WARM_UP_COUNT, isRouted })
  const results = { routed: [] as RoutedDrain[], unrouted: [] as RoutedDrain[] }
  for (let round = 1; round <= roundCount; round++) {
    for (const kind of rotated(['routed', 'unrouted'] as const, round)) {
      results[kind].push(await measureRouting({ store, count, isRouted: kind === 'routed' }))
    }
    const [byNeeds, without] = [results.routed.at(-1), results.unrouted.at(-1)]
    say(`round ${round}: ${byNeeds?.perSecond} per second by needs, ${without?.perSecond} without`)
  }
  const ratios = results.routed.map(({ perSecond }, i) => perSecond / (results.unrouted[i]?.perSecond ?? perSecond))
  const cpuOf = (drains: readonly RoutedDrain[]) => median(drains.map(({ cpuMicros }) => cpuMicros))
  return {
    metrics: {
      capabilityRoutedPerSecond: Math.round(median(results.routed.map(({ perSecond }) => perSecond))),
      unroutedPerSecond: Math.round(median(results.unrouted.map(({ perSecond }) => perSecond))),
      capabilityRoutedCpuMicros: Math.round(cpuOf(results.routed)),
      unroutedCpuMicros: Math.round(cpuOf(results.unrouted)),
    },
    ratios: {
      unrouted: rounded(median(ratios)),
      unroutedCpu: rounded(cpuOf(results.unrouted) / cpuOf(results.routed)),
    },
    settings: {
      count,
      rounds: roundCount,
      kinds: KINDS,
      workers: WORKERS,
      concurrency: WORKER_CONCURRENCY,
      ...storeSettings[store],
      ...machine,
    },
  }
}

export const routing: Scenario = {
  summary: 'a backlog of ten combinations of needs for a hundred workers, beside the same backlog without needs',
  run,
}
