/**
 * What the kernel costs inside a Valkey server, beside Lua that was written by hand for the same three steps. Every step
 * is taken by all contenders before the next begins, each on a server of its own, and each round begins with another.
 */
import { BATCH_OPERATION_LIMIT } from '../../src/kernel/index.ts'
import type { Server } from '../../test/servers/server.ts'
import { storeSettings } from '../bench-store.ts'
import { withInFlight } from '../load.ts'
import { machineSettings } from '../machine.ts'
import { capitalised } from '../metric-name.ts'
import { rotated } from '../rotation.ts'
import type { Measurement } from '../measurement.ts'
import type { Scenario, ScenarioRequest } from '../scenario.ts'
import { steps } from '../server-cost/contender.ts'
import type { Contender, ContenderSession, Step } from '../server-cost/contender.ts'
import { kernelContender } from '../server-cost/kernel.ts'
import { yardstick } from '../server-cost/yardstick.ts'
import { functionLatency } from '../server-info.ts'
import { ValkeyWatch, functionCalls, nestedCalls } from '../valkey-watch.ts'
import { median, rounded } from '../statistics.ts'
import { startValkey } from '../valkey-server.ts'
import { PAYLOAD_BYTES } from '../workload.ts'

const COUNT = 20_000
const ROUNDS = 3
const WARM_UP_COUNT = 2_000
/** Executions on their way to the server at once. */
const IN_FLIGHT = 64

const kernel = kernelContender('flowfabric', 1)
const batchedKernel = kernelContender('flowfabricBatched', BATCH_OPERATION_LIMIT)
const contenders = [kernel, yardstick, batchedKernel]

/** What one execution's step cost the server, and how long one call kept it from everybody else. */
interface StepCost {
  /** Inside functions, what they call included. */
  readonly micros: number
  /** Of that, in Lua itself: not in the commands that it calls. */
  readonly luaMicros: number
  /** The whole server process: the network, parsing and the log too. */
  readonly cpuMicros: number
  /** Commands that functions called. */
  readonly commands: number
  readonly bytesIn: number
  readonly bytesOut: number
  readonly aofBytes: number
  readonly callP50Micros: number
  readonly callP99Micros: number
}

type LifeCost = Readonly<Record<Step, StepCost>>
/** By the name of the contender. */
type Round = Readonly<Record<string, LifeCost>>

async function run({ store, say, ...request }: ScenarioRequest): Promise<Measurement> {
  const machine = machineSettings()
  const count = wholeBatches(request.count ?? COUNT)
  say('warming up')
  await measureRound(contenders, wholeBatches(Math.min(count, WARM_UP_COUNT)))

  const rounds: Round[] = []
  for (let number = 0; number < (request.rounds ?? ROUNDS); number++) {
    const round = await measureRound(rotated(contenders, number), count)
    rounds.push(round)
    say(`round ${number + 1}: ${contenders.map(({ name }) => describe(name, costsOf(round, name))).join('; ')}`)
  }
  return {
    metrics: Object.assign({}, ...contenders.map(({ name }) => metricsOf(name, rounds))) as Record<string, number>,
    ratios: {
      yardstick: ratioToYardstick(kernel, rounds, ({ micros }) => micros),
      yardstickCallP50: ratioToYardstick(kernel, rounds, ({ callP50Micros }) => callP50Micros),
      yardstickCpu: ratioToYardstick(kernel, rounds, ({ cpuMicros }) => cpuMicros),
      yardstickBatched: ratioToYardstick(batchedKernel, rounds, ({ micros }) => micros),
    },
    settings: {
      count,
      rounds: rounds.length,
      payloadBytes: PAYLOAD_BYTES,
      inFlight: IN_FLIGHT,
      batchOperations: batchedKernel.batchSize,
      ...storeSettings[store],
      ...machine,
    },
  }
}

/** The largest number of executions up to this one that fills whole batches. */
function wholeBatches(count: number): number {
  const { batchSize } = batchedKernel
  return Math.max(1, Math.floor(count / batchSize)) * batchSize
}

async function measureRound(order: readonly Contender[], count: number): Promise<Round> {
  await using stack = new AsyncDisposableStack()
  const places: Place[] = []
  for (const contender of order) {
    const server = stack.use(await startValkey())
    places.push({ contender, server, session: stack.use(await contender.open(server)), costs: {} })
  }
  for (const step of steps) {
    for (const place of places) place.costs[step] = await measureStep(place, step, count)
  }
  return Object.fromEntries(places.map(({ contender, costs }) => [contender.name, costs as LifeCost]))
}

interface Place {
  readonly contender: Contender
  readonly server: Server
  readonly session: ContenderSession
  readonly costs: Partial<Record<Step, StepCost>>
}

async function measureStep({ contender, server, session }: Place, step: Step, count: number): Promise<StepCost> {
  const { batchSize } = contender
  const watch = await ValkeyWatch.begin([server])
  await withInFlight(count / batchSize, Math.ceil(IN_FLIGHT / batchSize), () => session[step]())
  const use = await watch.end()
  const calls = functionCalls(use)
  const nested = nestedCalls(use)
  const latency = await functionLatency(server)
  return {
    micros: calls.micros / count,
    luaMicros: (calls.micros - nested.micros) / count,
    cpuMicros: use.cpuMicros / count,
    commands: nested.calls / count,
    bytesIn: use.bytesIn / count,
    bytesOut: use.bytesOut / count,
    aofBytes: use.aofBytes / count,
    callP50Micros: latency.p50Micros,
    callP99Micros: latency.p99Micros,
  }
}

function costsOf(round: Round, name: string): LifeCost {
  const costs = round[name]
  if (costs === undefined) throw new Error(`${name} was not measured.`)
  return costs
}

function overLife(costs: LifeCost, value: (cost: StepCost) => number): number {
  return steps.reduce((sum, step) => sum + value(costs[step]), 0)
}

/** Above one, the contender costs the server more than the Lua written by hand. */
function ratioToYardstick({ name }: Contender, rounds: readonly Round[], value: (cost: StepCost) => number): number {
  const ratios = rounds.map(
    (round) => overLife(costsOf(round, name), value) / overLife(costsOf(round, yardstick.name), value),
  )
  return rounded(median(ratios))
}

const stepMetrics = {
  Micros: ({ micros }) => micros,
  LuaMicros: ({ luaMicros }) => luaMicros,
  CpuMicros: ({ cpuMicros }) => cpuMicros,
  Commands: ({ commands }) => commands,
  BytesIn: ({ bytesIn }) => bytesIn,
  BytesOut: ({ bytesOut }) => bytesOut,
  AofBytes: ({ aofBytes }) => aofBytes,
  CallP50Micros: ({ callP50Micros }) => callP50Micros,
  CallP99Micros: ({ callP99Micros }) => callP99Micros,
} satisfies Record<string, (cost: StepCost) => number>

function metricsOf(name: string, rounds: readonly Round[]): Record<string, number> {
  const metrics: Record<string, number> = {
    [`${name}LifeMicros`]: rounded(
      median(rounds.map((round) => overLife(costsOf(round, name), ({ micros }) => micros))),
    ),
  }
  for (const step of steps) {
    for (const [metric, value] of Object.entries(stepMetrics)) {
      const values = rounds.map((round) => value(costsOf(round, name)[step]))
      metrics[`${name}${capitalised(step)}${metric}`] = rounded(median(values))
    }
  }
  return metrics
}

function describe(name: string, costs: LifeCost): string {
  return `${name} ${steps.map((step) => costs[step].micros.toFixed(1)).join(' + ')} µs`
}

export const serverCost: Scenario = {
  summary: `what creating, claiming and completing executions with ${PAYLOAD_BYTES} bytes each costs the server`,
  run,
}
