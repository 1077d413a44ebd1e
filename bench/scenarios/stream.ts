/**
 * How many frames several handlers stream in a second, with how many calls, how soon a reader in another process sees a frame,
 * and how long it takes until many readers of one stream have seen all of it.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { StandardSchemaV1 } from '@standard-schema/spec'
import { task } from '../../src/client/index.ts'
import { createFabric } from '../../src/fabric/fabric.ts'
import type { Fabric } from '../../src/fabric/fabric.ts'
import { freshStore, storeSettings } from '../bench-store.ts'
import type { BenchStore } from '../bench-store.ts'
import { machineSettings } from '../machine.ts'
import type { Measurement } from '../measurement.ts'
import type { Scenario, ScenarioRequest } from '../scenario.ts'
import { median, percentile, rounded } from '../statistics.ts'
import { LANE } from '../workload.ts'

/** Frames of each handler. */
const COUNT = 5_000
const ROUNDS = 3
const HANDLERS = 16
/** Frames of the one handler whose frames are timed, and the time between two. */
const TIMED = 300
const PAUSE_MS = 5
/** Readers of one stream, and its frames. */
const READERS = 10_000
const READ = 20
const WORD = 'somewhere '
const MS_PER_SECOND = 1_000
const THOUSAND = 1_000

/** Accepts every value. */
const anything: StandardSchemaV1<unknown, unknown> = {
  '~standard': { version: 1, vendor: 'bench', validate: (value) => ({ value }) },
}

interface Order {
  readonly count: number
  readonly pauseMs: number
}

const writer = task('bench.writer', { lane: LANE, input: anything, frames: { token: anything, time: anything } })

const writerHandler = writer.handle(async (input, ctx) => {
  const { count, pauseMs } = input as Order
  for (let number = 0; number < count; number++) {
    if (pauseMs > 0) await sleep(pauseMs)
    await (pauseMs > 0 ? ctx.frames.time(now()) : ctx.frames.token(WORD))
  }
})

/** The same clock in all processes of a machine. */
function now(): number {
  return performance.timeOrigin + performance.now()
}

interface Round {
  readonly perSecond: number
  readonly microsPerFrame: number
  readonly appendsPer1000: number
  readonly tripsPer1000: number
  readonly bytesPerFrame: number
  readonly seenMs: readonly number[]
  readonly readersMs: number
}

async function run({ store, say, ...request }: ScenarioRequest): Promise<Measurement> {
  const machine = machineSettings()
  const count = request.count ?? COUNT
  const roundCount = request.rounds ?? ROUNDS
  say('warming up')
  await measureRound(store, THOUSAND)
  const rounds: Round[] = []
  for (let number = 1; number <= roundCount; number++) {
    const round = await measureRound(store, count)
    rounds.push(round)
    say(`round ${number}: ${Math.round(round.perSecond)}/s, seen after ${rounded(median(round.seenMs))} ms`)
  }
  const seen = rounds.flatMap(({ seenMs }) => seenMs)
  const middle = (of: (round: Round) => number) => rounded(median(rounds.map(of)))
  return {
    metrics: {
      framesPerSecond: Math.round(middle(({ perSecond }) => perSecond)),
      clientMicrosPerFrame: middle(({ microsPerFrame }) => microsPerFrame),
      appendsPer1000Frames: middle(({ appendsPer1000 }) => appendsPer1000),
      storeCallsPer1000Frames: middle(({ tripsPer1000 }) => tripsPer1000),
      bytesPerFrame: middle(({ bytesPerFrame }) => bytesPerFrame),
      appendToSeenP50Ms: rounded(percentile(seen, 0.5)),
      appendToSeenP99Ms: rounded(percentile(seen, 0.99)),
      readersSeenMs: middle(({ readersMs }) => readersMs),
    },
    ratios: {},
    settings: {
      count,
      handlers: HANDLERS,
      frameBytes: WORD.length + 2,
      readers: READERS,
      framesOfReaders: READ,
      rounds: roundCount,
      ...storeSettings[store],
      ...machine,
    },
  }
}

async function measureRound(store: BenchStore, count: number): Promise<Round> {
  await using place = await freshStore(store)
  await using fabric = await createFabric(place.url)
  const use = countCalls(fabric)
  await fabric.work([writerHandler], { concurrency: HANDLERS })
  const cpuBefore = process.cpuUsage()
  const before = performance.now()
  const executions = await Promise.all(
    Array.from({ length: HANDLERS }, () => fabric.submit(writer, { count, pauseMs: 0 } satisfies Order)),
  )
  await Promise.all(executions.map((execution) => execution.result()))
  const seconds = (performance.now() - before) / MS_PER_SECOND
  const { user, system } = process.cpuUsage(cpuBefore)
  const { appends, trips } = use
  const frames = HANDLERS * count
  const bytesPerFrame = await storedBytes(fabric, executions[0]?.id)
  const seenMs = await timeSeen(store, place.url, fabric)
  const readersMs = await timeReaders(fabric)
  return {
    perSecond: frames / seconds,
    microsPerFrame: (user + system) / frames,
    appendsPer1000: (THOUSAND * appends) / frames,
    tripsPer1000: (THOUSAND * trips) / frames,
    bytesPerFrame,
    seenMs,
    readersMs,
  }
}

/** Counts appends, and the batches with one that are sent to the store. */
function countCalls({ store }: Fabric): { appends: number; trips: number } {
  const use = { appends: 0, trips: 0 }
  const send = store.run.bind(store)
  store.run = (partition, calls, onAnswer) => {
    const appends = calls.filter(({ operation }) => operation === 'appendFrames').length
    use.appends += appends
    if (appends > 0) use.trips += 1
    return send(partition, calls, onAnswer)
  }
  return use
}

/** Bytes of the packed frames that are kept, names and times included. */
async function storedBytes(fabric: Fabric, id: string | undefined): Promise<number> {
  const executionId = fabric.try.resolve(id ?? '')
  const { result } = await fabric.try.run(executionId, 'readFrames', { executionId, chunk: 1 })
  if (result.kind === 'refused') throw new Error(`The frames are refused: ${result.code}.`)
  const chunks = result.chunks.map(({ chunk }) => chunk)
  return chunks.reduce((sum, { size }) => sum + size, 0) / chunks.reduce((sum, { count }) => sum + count, 0)
}

/** The time from a write to its reader, which has a connection of its own. */
async function timeSeen(store: BenchStore, url: string, fabric: Fabric): Promise<number[]> {
  const other = store === 'memory' ? undefined : await createFabric(url)
  try {
    const { id } = await fabric.submit(writer, { count: TIMED, pauseMs: PAUSE_MS } satisfies Order)
    const times: number[] = []
    for await (const item of (other ?? fabric).execution(id, writer).frames({ name: 'time' })) {
      if (item.kind === 'frame') times.push(now() - (item.value as number))
    }
    if (times.length !== TIMED) throw new Error(`The reader saw ${times.length} of ${TIMED} frames.`)
    return times
  } finally {
    await other?.close()
  }
}

/** The time until all readers of one stream have seen it to its end. */
async function timeReaders(fabric: Fabric): Promise<number> {
  const execution = await fabric.submit(writer, { count: READ, pauseMs: PAUSE_MS } satisfies Order)
  const before = performance.now()
  const counts = await Promise.all(
    Array.from({ length: READERS }, async () => {
      let count = 0
      for await (const item of execution.frames()) if (item.kind === 'frame') count += 1
      return count
    }),
  )
  if (counts.some((count) => count !== READ)) throw new Error('A reader has not seen all frames.')
  return performance.now() - before
}

export const stream: Scenario = {
  summary: 'frames that handlers stream, the time until a reader sees them, and many readers of one stream',
  run,
}
