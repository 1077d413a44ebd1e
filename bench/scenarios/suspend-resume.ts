/**
 * How long it takes to suspend an execution and to resume it: its handler waits, what it waits for is sent as soon as
 * it is parked, and its handler runs on. One at a time, so that nothing but the way there and back is measured.
 */
import { signal, task } from '../../src/client/index.ts'
import { createFabric } from '../../src/fabric/fabric.ts'
import { freshStore, storeSettings } from '../bench-store.ts'
import type { BenchStore } from '../bench-store.ts'
import { machineSettings } from '../machine.ts'
import type { Measurement } from '../measurement.ts'
import type { Scenario, ScenarioRequest } from '../scenario.ts'
import { percentile, rounded } from '../statistics.ts'
import { LANE } from '../workload.ts'

/** Cycles that a round has, one after the other. */
const COUNT = 300
const WARM_UP_COUNT = 50
const ROUNDS = 3

const patient = task<number, number>('bench.patient', { lane: LANE })

interface Cycle {
  /** From the wait of the handler until it runs on. */
  readonly wholeMs: number
  /** From the moment the signal was accepted until the handler runs on. */
  readonly wakeMs: number
}

async function run({ store, say, ...request }: ScenarioRequest): Promise<Measurement> {
  const machine = machineSettings()
  const count = request.count ?? COUNT
  const roundCount = request.rounds ?? ROUNDS
  say('warming up')
  await measureRound(store, WARM_UP_COUNT)
  const cycles: Cycle[] = []
  for (let number = 1; number <= roundCount; number++) {
    const round = await measureRound(store, count)
    cycles.push(...round)
    say(`round ${number}: p50 ${rounded(p(round, 0.5, 'wholeMs'))} ms, p99 ${rounded(p(round, 0.99, 'wholeMs'))} ms`)
  }
  return {
    metrics: {
      p50Ms: rounded(p(cycles, 0.5, 'wholeMs')),
      p99Ms: rounded(p(cycles, 0.99, 'wholeMs')),
      wakeP50Ms: rounded(p(cycles, 0.5, 'wakeMs')),
      wakeP99Ms: rounded(p(cycles, 0.99, 'wakeMs')),
    },
    ratios: {},
    settings: { count, rounds: roundCount, ...storeSettings[store], ...machine },
  }
}

function p(cycles: readonly Cycle[], fraction: number, of: keyof Cycle): number {
  return percentile(
    cycles.map((cycle) => cycle[of]),
    fraction,
  )
}

async function measureRound(store: BenchStore, count: number): Promise<Cycle[]> {
  await using place = await freshStore(store)
  await using fabric = await createFabric(place.url)
  let waitedAt = Number.NaN
  let parked = Promise.withResolvers<undefined>()
  let resumed = Promise.withResolvers<number>()
  const handler = patient.handle(async (number, ctx) => {
    ctx.onPark(() => parked.resolve(undefined))
    // Run again behind the wait, it has waited before.
    if (Number.isNaN(waitedAt)) waitedAt = performance.now()
    await ctx.waitFor('go', signal('go'))
    resumed.resolve(performance.now())
    return number
  })
  await fabric.work([handler], { concurrency: 4 })
  const cycles: Cycle[] = []
  for (let number = 0; number < count; number++) {
    waitedAt = Number.NaN
    parked = Promise.withResolvers()
    resumed = Promise.withResolvers()
    const execution = await fabric.submit(patient, number)
    await parked.promise
    await execution.signal('go', number)
    const acceptedAt = performance.now()
    const resumedAt = await resumed.promise
    cycles.push({ wholeMs: resumedAt - waitedAt, wakeMs: Math.max(0, resumedAt - acceptedAt) })
    await execution.result()
  }
  return cycles
}

export const suspendResume: Scenario = {
  summary: 'a handler that waits, is parked, is sent a signal and runs on: the whole way, and the way from the signal',
  run,
}
