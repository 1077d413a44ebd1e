/**
 * Submits over HTTP beside submits of a client that uses the store directly: one in a request, in batches, and by a client whose
 * location is the address of the server. Client, server
 * and worker share one process, so the numbers include the work of the client that sends the requests.
 */
import { task } from '../../src/client/index.ts'
import { createFabric } from '../../src/fabric/fabric.ts'
import type { Fabric } from '../../src/fabric/fabric.ts'
import { startServer } from '../../src/server/index.ts'
import { freshStore, storeSettings } from '../bench-store.ts'
import type { BenchStore } from '../bench-store.ts'
import { perSecond, timed, withInFlight } from '../load.ts'
import { machineSettings } from '../machine.ts'
import type { Measurement } from '../measurement.ts'
import type { Scenario, ScenarioRequest } from '../scenario.ts'
import { median, percentile, rounded } from '../statistics.ts'
import { LANE, PAYLOAD_BYTES, TASK_NAME, loadOf } from '../workload.ts'

/** Executions of a round, submitted in each way. */
const COUNT = 2_000
const WARM_UP_COUNT = 500
const ROUNDS = 3
const IN_FLIGHT = 50
const BATCH_SIZE = 50

const noop = task(TASK_NAME, { lane: LANE })

interface Round {
  readonly directPerSecond: number
  readonly submitPerSecond: number
  readonly batchPerSecond: number
  readonly endToEndPerSecond: number
  /** CPU of a direct submit, divided by that of one in a batch. */
  readonly batchCpu: number
  /** Submits of a client whose location is the address of the server. */
  readonly remotePerSecond: number
  /** CPU of the process for one of them. */
  readonly remoteMicros: number
  /** CPU of a direct submit, divided by that. */
  readonly remoteCpu: number
  /** CPU of the process for one submit in a request of its own. */
  readonly cpuMicros: number
  readonly requestMs: readonly number[]
}

async function run({ store, say, ...request }: ScenarioRequest): Promise<Measurement> {
  const machine = machineSettings()
  const count = request.count ?? COUNT
  const roundCount = request.rounds ?? ROUNDS
  say('warming up')
  await measureRound(store, WARM_UP_COUNT)
  const rounds: Round[] = []
  for (let number = 1; number <= roundCount; number++) {
    const round = await measureRound(store, count)
    rounds.push(round)
    say(`round ${number}: ${Math.round(round.submitPerSecond)}/s, in batches ${Math.round(round.batchPerSecond)}/s`)
  }
  const middle = (value: (round: Round) => number) => median(rounds.map(value))
  const requests = rounds.flatMap(({ requestMs }) => requestMs)
  return {
    metrics: {
      submitPerSecond: Math.round(middle((round) => round.submitPerSecond)),
      batchSubmitPerSecond: Math.round(middle((round) => round.batchPerSecond)),
      endToEndPerSecond: Math.round(middle((round) => round.endToEndPerSecond)),
      remoteCpuMicrosPerSubmit: Math.round(middle((round) => round.remoteMicros)),
      remoteSubmitPerSecond: Math.round(middle((round) => round.remotePerSecond)),
      cpuMicrosPerSubmit: Math.round(middle((round) => round.cpuMicros)),
      p50Ms: rounded(percentile(requests, 0.5)),
      p99Ms: rounded(percentile(requests, 0.99)),
    },
    ratios: {
      direct: rounded(middle((round) => round.batchPerSecond / round.directPerSecond)),
      directCpu: rounded(middle((round) => round.batchCpu)),
      remote: rounded(middle((round) => round.remotePerSecond / round.directPerSecond)),
      remoteCpu: rounded(middle((round) => round.remoteCpu)),
    },
    settings: {
      count,
      rounds: roundCount,
      payloadBytes: PAYLOAD_BYTES,
      requestsInFlight: IN_FLIGHT,
      batchSize: BATCH_SIZE,
      ...storeSettings[store],
      ...machine,
    },
  }
}

async function measureRound(store: BenchStore, count: number): Promise<Round> {
  await using place = await freshStore(store)
  await using fabric = await createFabric(place.url)
  await using server = await startServer(fabric, { port: 0 })
  const url = `${server.url}/v1/executions`
  const directBefore = process.cpuUsage()
  const direct = await timed(() => withInFlight(count, IN_FLIGHT, (number) => fabric.submit(noop, loadOf(number))))
  const directMicros = microsSince(directBefore)
  const requestMs: number[] = []
  const cpuBefore = process.cpuUsage()
  const single = await timed(() =>
    withInFlight(count, IN_FLIGHT, async (number) => {
      requestMs.push(await timed(() => post(url, submission(number))))
    }),
  )
  const cpu = process.cpuUsage(cpuBefore)
  const batchCount = Math.ceil(count / BATCH_SIZE)
  const batchBefore = process.cpuUsage()
  const batches = await timed(() => submitBatches(url, batchCount))
  const batchMicros = microsSince(batchBefore)
  await using far = await createFabric(server.url)
  const remoteBefore = process.cpuUsage()
  const remote = await timed(() => withInFlight(count, IN_FLIGHT, (number) => far.submit(noop, loadOf(number))))
  const remoteMicros = microsSince(remoteBefore)
  const endToEnd = await timed(() => runToEnd(fabric, url, batchCount, 3 * count + batchCount * BATCH_SIZE))
  const total = 3 * count + 2 * batchCount * BATCH_SIZE
  return {
    directPerSecond: perSecond(count, direct),
    submitPerSecond: perSecond(count, single),
    batchPerSecond: perSecond(batchCount * BATCH_SIZE, batches),
    endToEndPerSecond: perSecond(total, endToEnd),
    remotePerSecond: perSecond(count, remote),
    batchCpu: directMicros / count / (batchMicros / (batchCount * BATCH_SIZE)),
    remoteMicros: remoteMicros / count,
    remoteCpu: directMicros / remoteMicros,
    cpuMicros: (cpu.user + cpu.system) / count,
    requestMs,
  }
}

function microsSince(before: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(before)
  return user + system
}

/** Submits further batches while a worker runs them, and what waits already. */
async function runToEnd(fabric: Fabric, url: string, batchCount: number, waiting: number): Promise<void> {
  let left = waiting + batchCount * BATCH_SIZE
  const done = Promise.withResolvers<undefined>()
  const handler = noop.handle(() => {
    left -= 1
    if (left === 0) done.resolve(undefined)
  })
  await fabric.work([handler], { concurrency: 50 })
  await submitBatches(url, batchCount)
  await done.promise
}

async function submitBatches(url: string, batchCount: number): Promise<void> {
  await withInFlight(batchCount, 4, async (batch) => {
    const items = Array.from({ length: BATCH_SIZE }, (_, i) => submission(batch * BATCH_SIZE + i))
    await post(`${url}/batch`, { items })
  })
}

function submission(number: number): unknown {
  return { task: TASK_NAME, lane: LANE, input: loadOf(number) }
}

async function post(url: string, body: unknown): Promise<void> {
  const headers = { 'content-type': 'application/json' }
  const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) })
  if (!response.ok) throw new Error(`${url} answered ${response.status}: ${await response.text()}`)
  await response.arrayBuffer()
}

export const http: Scenario = {
  summary: `submits executions with ${PAYLOAD_BYTES} bytes each over HTTP, alone and in batches of ${BATCH_SIZE}, beside direct submits`,
  run,
}
