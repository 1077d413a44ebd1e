/**
 * Flows that spread and come together again: one root, many children that all come after it, and one join that comes after
 * all of them. One flow at a time, so that its time is that of its own members alone.
 */
import { allOf, flow, task } from '../../src/client/index.ts'
import { createFabric } from '../../src/worker/fabric.ts'
import type { Fabric } from '../../src/worker/fabric.ts'
import { freshStore, storeSettings } from '../bench-store.ts'
import type { BenchStore } from '../bench-store.ts'
import { perSecond } from '../load.ts'
import { machineSettings } from '../machine.ts'
import type { Measurement } from '../measurement.ts'
import type { Scenario, ScenarioRequest } from '../scenario.ts'
import { serverMetrics } from '../server-metrics.ts'
import { CONCURRENCY, PREFETCH, measured } from '../stages.ts'
import type { Effort } from '../stages.ts'
import { median, percentile, rounded } from '../statistics.ts'
import { LANE } from '../workload.ts'

const WIDTH = 1_000
/** Flows that a round runs, one after the other. */
const COUNT = 5
const ROUNDS = 3
/** A flow before the clock starts makes the queue known and opens connections. */
const SETTLING_WIDTH = 50

interface FanoutInput {
  readonly width: number
}

interface FanoutTime {
  /** Until the store has acknowledged all of the flow. */
  readonly submitMs: number
  /** From the submit until the flow has ended. */
  readonly totalMs: number
}

interface Round {
  readonly times: readonly FanoutTime[]
  readonly effort: Effort
}

const piece = task<{ readonly number: number }, number>('bench.piece', { lane: LANE })

const fan = flow('bench.fanout', (f, { width }: FanoutInput) => {
  const root = f.node('root', piece, { input: { number: 0 } })
  const children = Array.from({ length: width }, (_, i) =>
    f.node(`child${i}`, piece, { after: allOf(root), input: { number: i } }),
  )
  f.node('join', piece, { after: allOf(...children), input: { number: width } })
})

async function run({ store, options, say, ...request }: ScenarioRequest): Promise<Measurement> {
  const machine = machineSettings()
  const width = options.width ?? WIDTH
  const count = request.count ?? COUNT
  say('warming up')
  await measureRound(store, width, 1)

  const rounds: Round[] = []
  for (let number = 1; number <= (request.rounds ?? ROUNDS); number++) {
    const round = await measureRound(store, width, count)
    rounds.push(round)
    say(`round ${number}: ${round.times.map(({ totalMs }) => Math.round(totalMs)).join(', ')} ms`)
  }
  return {
    metrics: metricsOf(rounds, width, count),
    ratios: {},
    settings: {
      width,
      count,
      rounds: rounds.length,
      concurrency: CONCURRENCY,
      prefetch: PREFETCH[store],
      ...storeSettings[store],
      ...machine,
    },
  }
}

async function measureRound(store: BenchStore, width: number, count: number): Promise<Round> {
  await using place = await freshStore(store)
  await using fabric = await createFabric(place.url)
  await fabric.work([piece.handle(({ number }) => number)], { concurrency: CONCURRENCY, prefetch: PREFETCH[store] })
  await runFanout(fabric, Math.min(width, SETTLING_WIDTH))
  const times: FanoutTime[] = []
  const effort = await measured(place, count * memberCount(width), async () => {
    for (let number = 0; number < count; number++) times.push(await runFanout(fabric, width))
  })
  return { times, effort }
}

async function runFanout(fabric: Fabric, width: number): Promise<FanoutTime> {
  const startedAt = performance.now()
  const handle = await fabric.submit(fan, { width })
  const submitMs = performance.now() - startedAt
  await handle.result()
  return { submitMs, totalMs: performance.now() - startedAt }
}

/** The children with their root and their join. */
function memberCount(width: number): number {
  return width + 2
}

function metricsOf(rounds: readonly Round[], width: number, count: number): Record<string, number> {
  const times = rounds.flatMap((round) => round.times)
  const totals = times.map(({ totalMs }) => totalMs)
  const efforts = rounds.map(({ effort }) => effort)
  return {
    p50Ms: rounded(percentile(totals, 0.5)),
    p99Ms: rounded(percentile(totals, 0.99)),
    submitP50Ms: rounded(median(times.map(({ submitMs }) => submitMs))),
    membersPerSecond: Math.round(perSecond(memberCount(width), median(totals))),
    cpuMicrosPerExecution: Math.round(median(efforts.map(({ clientMicros }) => clientMicros))),
    ...serverMetrics(
      efforts.map(({ servers }) => servers),
      count * memberCount(width),
    ),
  }
}

export const fanout: Scenario = {
  summary: 'one root, many children after it, one join after all of them: from the submit to the end',
  run,
}
