/** Executions through their whole life as fast as one process can take them, and how soon a single one starts. */
import path from 'node:path'
import { BATCH_OPERATION_LIMIT } from '../../src/kernel/index.ts'
import { systemRuntime } from '../../src/runtime/index.ts'
import { SYNCHRONOUS, storeSettings } from '../bench-store.ts'
import type { BenchStore } from '../bench-store.ts'
import { freshFolder } from '../folder.ts'
import { lifeRows } from '../life-rows.ts'
import type { LifeRows } from '../life-rows.ts'
import { machineSettings } from '../machine.ts'
import { flowfabric } from '../peers/flowfabric.ts'
import { rawStorePerSecond } from '../raw-store.ts'
import type { Measurement, Settings } from '../measurement.ts'
import type { Scenario, ScenarioRequest } from '../scenario.ts'
import { serverMetrics } from '../server-metrics.ts'
import {
  CONCURRENCY,
  COUNT,
  PREFETCH,
  ROUNDS,
  STARTS_PER_SECOND,
  START_COUNT,
  SUBMITS_IN_FLIGHT,
  WARM_UP_COUNT,
  measureEndToEnd,
  measureStages,
  measureStarts,
} from '../stages.ts'
import type { Effort, StagedEffort } from '../stages.ts'
import { median, percentile, rounded } from '../statistics.ts'
import { PAYLOAD_BYTES, loadOf } from '../workload.ts'

interface Round extends StagedEffort {
  readonly endToEnd: Effort
  readonly startMs: readonly number[]
  /** Only where there is a store beneath that can be used without the engine. */
  readonly rawPerSecond: number | undefined
}

async function run({ store, say, ...request }: ScenarioRequest): Promise<Measurement> {
  const machine = machineSettings()
  const count = request.count ?? COUNT
  const rows = await lifeRows(loadOf(0), 0)
  say('warming up')
  await measureRound(store, WARM_UP_COUNT, START_COUNT / 3, rows)

  const rounds: Round[] = []
  for (let number = 1; number <= (request.rounds ?? ROUNDS); number++) {
    const round = await measureRound(store, count, START_COUNT, rows)
    rounds.push(round)
    say(`round ${number}: ${describeRound(round)}`)
  }
  return summarise(store, count, rounds, { ...storeSettings[store], ...machine })
}

/** Everything once, close together in time, so that a disturbance of the machine meets what it is compared with too. */
async function measureRound(store: BenchStore, count: number, startCount: number, rows: LifeRows): Promise<Round> {
  const stages = await measureStages(flowfabric, store, count)
  const endToEnd = await measureEndToEnd(flowfabric, store, count)
  const rawPerSecond = store === 'sqlite' ? await measureRaw(count, rows) : undefined
  const startMs = await measureStarts(flowfabric, store, startCount)
  return { ...stages, endToEnd, rawPerSecond, startMs }
}

async function measureRaw(count: number, rows: LifeRows): Promise<number> {
  await using folder = await freshFolder()
  return await rawStorePerSecond(systemRuntime(), {
    file: path.join(folder.path, 'raw.db'),
    synchronous: SYNCHRONOUS,
    count,
    batchSize: BATCH_OPERATION_LIMIT,
    rows,
  })
}

function summarise(store: BenchStore, count: number, rounds: readonly Round[], surroundings: Settings): Measurement {
  const middle = (value: (round: Round) => number) => median(rounds.map(value))
  const starts = rounds.flatMap((round) => round.startMs)
  const uses = rounds.map(({ endToEnd }) => endToEnd.servers)
  const raw = rounds.flatMap(({ rawPerSecond, endToEnd }) =>
    rawPerSecond === undefined ? [] : [endToEnd.perSecond / rawPerSecond],
  )
  return {
    metrics: {
      endToEndPerSecond: Math.round(middle((round) => round.endToEnd.perSecond)),
      submitPerSecond: Math.round(middle((round) => round.submit.perSecond)),
      drainPerSecond: Math.round(middle((round) => round.drain.perSecond)),
      cpuMicrosPerExecution: Math.round(middle((round) => round.endToEnd.clientMicros)),
      ...serverMetrics(uses, count),
      startP50Ms: rounded(percentile(starts, 0.5)),
      startP99Ms: rounded(percentile(starts, 0.99)),
    },
    ratios: raw.length === 0 ? {} : { rawStore: rounded(median(raw)) },
    settings: {
      count,
      rounds: rounds.length,
      payloadBytes: PAYLOAD_BYTES,
      submitsInFlight: SUBMITS_IN_FLIGHT,
      concurrency: CONCURRENCY,
      prefetch: PREFETCH[store],
      ...flowfabric.settings,
      startsPerSecond: STARTS_PER_SECOND,
      starts: starts.length,
      ...surroundings,
    },
  }
}

function describeRound({ endToEnd, submit, drain, rawPerSecond, startMs }: Round): string {
  const rates = [
    ['end to end', endToEnd.perSecond],
    ['submit', submit.perSecond],
    ['drain', drain.perSecond],
    ['raw store', rawPerSecond],
  ] as const
  const texts = rates.flatMap(([name, rate]) => (rate === undefined ? [] : [`${name} ${Math.round(rate)}/s`]))
  return `${texts.join(', ')}, ${Math.round(endToEnd.clientMicros)} µs of CPU each, start p50 ${rounded(percentile(startMs, 0.5))} ms`
}

export const lifecycle: Scenario = {
  summary: `submits executions with ${PAYLOAD_BYTES} bytes each and runs them with ${CONCURRENCY} handlers that do nothing`,
  run,
}
