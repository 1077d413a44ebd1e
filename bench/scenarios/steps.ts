/**
 * What a durable step costs, whether the next one costs more the more there are, and how many a worker records in a second
 * when several handlers take theirs at once.
 */
import { task } from '../../src/client/index.ts'
import { createFabric } from '../../src/fabric/fabric.ts'
import { freshStore, storeSettings } from '../bench-store.ts'
import type { BenchStore } from '../bench-store.ts'
import { machineSettings } from '../machine.ts'
import type { Measurement } from '../measurement.ts'
import type { Scenario, ScenarioRequest } from '../scenario.ts'
import { median, percentile, rounded } from '../statistics.ts'
import { LANE } from '../workload.ts'

/** Steps of the one handler whose steps are timed. */
const LENGTH = 2_000
const ROUNDS = 3
/** Handlers that take their steps at once. */
const HANDLERS = 16
const STEPS_PER_HANDLER = 200
/** Steps of which one median is taken, so that the slope is not that of a few slow ones. */
const BUCKET = 50
const MICROSECONDS_PER_MS = 1_000
const MS_PER_SECOND = 1_000

const walker = task<number, number>('bench.walker', { lane: LANE })

interface Round {
  readonly times: readonly number[]
  readonly perSecond: number
}

async function run({ store, options, say, ...request }: ScenarioRequest): Promise<Measurement> {
  const machine = machineSettings()
  const length = options.length ?? LENGTH
  const roundCount = request.rounds ?? ROUNDS
  say('warming up')
  await measureRound(store, BUCKET)
  const rounds: Round[] = []
  for (let number = 1; number <= roundCount; number++) {
    const round = await measureRound(store, length)
    rounds.push(round)
    const p50 = rounded(percentile(round.times, 0.5))
    say(`round ${number}: p50 ${p50} ms, slope ${slopeOf(round.times).toFixed(4)} us, ${Math.round(round.perSecond)}/s`)
  }
  const times = rounds.flatMap((round) => round.times)
  return {
    metrics: {
      stepP50Ms: rounded(percentile(times, 0.5)),
      stepP99Ms: rounded(percentile(times, 0.99)),
      slopeUsPerStep: Number(median(rounds.map((round) => slopeOf(round.times))).toFixed(4)),
      stepsPerSecond: Math.round(median(rounds.map(({ perSecond }) => perSecond))),
    },
    ratios: {},
    settings: { length, handlers: HANDLERS, rounds: roundCount, ...storeSettings[store], ...machine },
  }
}

async function measureRound(store: BenchStore, length: number): Promise<Round> {
  await using place = await freshStore(store)
  await using fabric = await createFabric(place.url)
  let times: number[] = []
  const handler = walker.handle(async (count, ctx) => {
    for (let number = 0; number < count; number++) {
      const before = performance.now()
      await ctx.step('walk', () => number)
      times.push(performance.now() - before)
    }
    return count
  })
  await fabric.work([handler], { concurrency: HANDLERS })
  const lone = await fabric.submit(walker, length)
  await lone.result()
  const measured = times
  times = []
  const before = performance.now()
  const handlers = await Promise.all(
    Array.from({ length: HANDLERS }, () => fabric.submit(walker, Math.min(length, STEPS_PER_HANDLER))),
  )
  await Promise.all(handlers.map((execution) => execution.result()))
  const seconds = (performance.now() - before) / MS_PER_SECOND
  return { times: measured, perSecond: times.length / seconds }
}

/** By how many microseconds a step is slower than the one before it: a line through the medians of many steps each. */
function slopeOf(times: readonly number[]): number {
  const points: { readonly x: number; readonly y: number }[] = []
  for (let start = 0; start + BUCKET <= times.length; start += BUCKET) {
    points.push({ x: start + BUCKET / 2, y: median(times.slice(start, start + BUCKET)) * MICROSECONDS_PER_MS })
  }
  if (points.length < 2) return 0
  const meanX = points.reduce((sum, { x }) => sum + x, 0) / points.length
  const meanY = points.reduce((sum, { y }) => sum + y, 0) / points.length
  const covariance = points.reduce((sum, { x, y }) => sum + (x - meanX) * (y - meanY), 0)
  const variance = points.reduce((sum, { x }) => sum + (x - meanX) ** 2, 0)
  return covariance / variance
}

export const steps: Scenario = {
  summary: 'durable steps of one handler, timed one by one, and of many handlers at once',
  run,
}
