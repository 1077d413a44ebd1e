/** Executions through their whole life as fast as one process can take them, and how soon a single one starts. */
import { availableParallelism } from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { task } from '../../src/client/index.ts'
import { BATCH_BYTES, BATCH_OPERATION_LIMIT } from '../../src/kernel/index.ts'
import { systemRuntime } from '../../src/runtime/index.ts'
import { createFabric } from '../../src/worker/fabric.ts'
import type { Fabric } from '../../src/worker/fabric.ts'
import { SYNCHRONOUS, freshFolder, freshStore } from '../bench-store.ts'
import type { BenchStore } from '../bench-store.ts'
import { lifeRows } from '../life-rows.ts'
import type { LifeRows } from '../life-rows.ts'
import { atRate, perSecond, timed, withInFlight } from '../load.ts'
import { rawStorePerSecond } from '../raw-store.ts'
import type { Measurement, Scenario, ScenarioRequest } from '../scenario.ts'
import { median, percentile } from '../statistics.ts'

const COUNT = 10_000
const ROUNDS = 5
const WARM_UP_COUNT = 3_000
const SUBMITS_IN_FLIGHT = 64
const CONCURRENCY = 16
const PREFETCH = 16
const PAYLOAD_BYTES = 1_024
const STARTS_PER_SECOND = 100
/** Three seconds of starts in each round. */
const START_COUNT = 300
const LANE = 'bench'
/** How often it is looked whether everything is stored, once the last handler has returned. */
const LOOK_EVERY_MS = 1

interface Load {
  readonly number: number
  readonly padding: string
}

const noop = task<Load, number>('bench.noop', { lane: LANE })

function loadOf(number: number): Load {
  const bareBytes = JSON.stringify({ number, padding: '' }).length
  return { number, padding: 'x'.repeat(PAYLOAD_BYTES - bareBytes) }
}

interface Round {
  readonly submitPerSecond: number
  readonly drainPerSecond: number
  readonly endToEndPerSecond: number
  /** What the whole process spent on one execution from end to end, all its threads together. */
  readonly cpuMicros: number
  /** From the call of submit to the first line of the handler, one for each start. */
  readonly startMs: readonly number[]
  /** Only where there is a store beneath that can be used without the engine. */
  readonly rawPerSecond: number | undefined
}

async function run({ store, say, ...request }: ScenarioRequest): Promise<Measurement> {
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
  return summarise(store, count, rounds)
}

/** Everything once, close together in time, so that a disturbance of the machine meets what it is compared with too. */
async function measureRound(store: BenchStore, count: number, startCount: number, rows: LifeRows): Promise<Round> {
  const stages = await measureStages(store, count)
  const endToEnd = await measureEndToEnd(store, count)
  const rawPerSecond = store === 'sqlite' ? await measureRaw(count, rows) : undefined
  const startMs = await measureStarts(store, startCount)
  return { ...stages, ...endToEnd, rawPerSecond, startMs }
}

/** First everything is submitted while nobody works, then everything is worked off while nobody submits. */
async function measureStages(
  store: BenchStore,
  count: number,
): Promise<Pick<Round, 'submitPerSecond' | 'drainPerSecond'>> {
  await using place = await freshStore(store)
  await using fabric = await createFabric(place.url)
  const submitMs = await timed(() => submitAll(fabric, count))
  const drainMs = await timed(async () => await (await startWork(fabric, count)).allStored)
  return { submitPerSecond: perSecond(count, submitMs), drainPerSecond: perSecond(count, drainMs) }
}

/** A worker waits; from the first submit to the moment when the last result is stored. */
async function measureEndToEnd(
  store: BenchStore,
  count: number,
): Promise<Pick<Round, 'endToEndPerSecond' | 'cpuMicros'>> {
  await using place = await freshStore(store)
  await using fabric = await createFabric(place.url)
  const { allStored } = await startWork(fabric, count)
  const cpuBefore = process.cpuUsage()
  const elapsedMs = await timed(() => Promise.all([submitAll(fabric, count), allStored]))
  const { user, system } = process.cpuUsage(cpuBefore)
  return { endToEndPerSecond: perSecond(count, elapsedMs), cpuMicros: (user + system) / count }
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

async function measureStarts(store: BenchStore, count: number): Promise<number[]> {
  await using place = await freshStore(store)
  await using fabric = await createFabric(place.url)
  const submittedAt: number[] = []
  const startMs: number[] = []
  const { allStored } = await startWork(fabric, count, (number) => {
    startMs.push(performance.now() - (submittedAt[number] ?? Number.NaN))
  })
  await atRate(count, STARTS_PER_SECOND, async (number) => {
    submittedAt[number] = performance.now()
    await fabric.submit(noop, loadOf(number))
  })
  await allStored
  return startMs
}

/** A worker whose handlers do nothing, and the moment when it has stored the results of all it was to do. */
async function startWork(
  fabric: Fabric,
  count: number,
  onStart: (number: number) => void = () => undefined,
): Promise<{ readonly allStored: Promise<void> }> {
  const lastRan = Promise.withResolvers<undefined>()
  let ranCount = 0
  const handler = noop.handle(({ number }) => {
    onStart(number)
    if (++ranCount === count) lastRan.resolve(undefined)
    return number
  })
  await fabric.work([handler], { concurrency: CONCURRENCY, prefetch: PREFETCH })
  return { allStored: lastRan.promise.then(() => untilCompleted(fabric, count)) }
}

async function submitAll(fabric: Fabric, count: number): Promise<void> {
  await withInFlight(count, SUBMITS_IN_FLIGHT, (number) => fabric.submit(noop, loadOf(number)))
}

/** Counting costs the store something, so it begins only when the last handler has returned. */
async function untilCompleted(fabric: Fabric, count: number): Promise<void> {
  for (;;) {
    const [lane] = await fabric.lanes(LANE)
    if (lane?.counts.completed === count) return
    await sleep(LOOK_EVERY_MS)
  }
}

function summarise(store: BenchStore, count: number, rounds: readonly Round[]): Measurement {
  const middle = (value: (round: Round) => number) => median(rounds.map(value))
  const starts = rounds.flatMap((round) => round.startMs)
  const raw = rounds.flatMap(({ rawPerSecond, endToEndPerSecond }) =>
    rawPerSecond === undefined ? [] : [endToEndPerSecond / rawPerSecond],
  )
  return {
    metrics: {
      endToEndPerSecond: Math.round(middle((round) => round.endToEndPerSecond)),
      submitPerSecond: Math.round(middle((round) => round.submitPerSecond)),
      drainPerSecond: Math.round(middle((round) => round.drainPerSecond)),
      cpuMicrosPerExecution: Math.round(middle((round) => round.cpuMicros)),
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
      prefetch: PREFETCH,
      startsPerSecond: STARTS_PER_SECOND,
      starts: starts.length,
      batchOperations: BATCH_OPERATION_LIMIT,
      batchBytes: BATCH_BYTES,
      ...(store === 'sqlite' ? { synchronous: SYNCHRONOUS } : {}),
      node: process.version,
      cores: availableParallelism(),
    },
  }
}

function rounded(value: number): number {
  return Math.round(value * 100) / 100
}

function describeRound(round: Round): string {
  const rates = [
    ['end to end', round.endToEndPerSecond],
    ['submit', round.submitPerSecond],
    ['drain', round.drainPerSecond],
    ['raw store', round.rawPerSecond],
  ] as const
  const texts = rates.flatMap(([name, rate]) => (rate === undefined ? [] : [`${name} ${Math.round(rate)}/s`]))
  return `${texts.join(', ')}, ${Math.round(round.cpuMicros)} µs of CPU each, start p50 ${rounded(percentile(round.startMs, 0.5))} ms`
}

export const lifecycle: Scenario = {
  summary: `submits executions with ${PAYLOAD_BYTES} bytes each and runs them with ${CONCURRENCY} handlers that do nothing`,
  run,
}
