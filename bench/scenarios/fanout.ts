/**
 * Flows that spread and come together again: one root, many children that all come after it, and one join that comes after
 * all of them. One flow at a time, so that its time is that of its own members alone. With --processes, the members are
 * completed by worker processes, beside one such process.
 */
import { storeSettings } from '../bench-store.ts'
import { memberCount } from '../fanout/fan-flow.ts'
import { measureFanout, measureSharedFanout } from '../fanout/measure-fanout.ts'
import type { FanoutOrder, FanoutRound, SharedFanoutRound } from '../fanout/measure-fanout.ts'
import type { WorkerDuties } from '../fanout/worker-process.ts'
import { perSecond } from '../load.ts'
import { machineSettings } from '../machine.ts'
import type { Measurement } from '../measurement.ts'
import { prefixed } from '../metric-name.ts'
import { Child } from '../processes/child.ts'
import { rotated } from '../rotation.ts'
import type { Scenario, ScenarioRequest } from '../scenario.ts'
import { serverMetrics } from '../server-metrics.ts'
import { CONCURRENCY, PREFETCH } from '../stages.ts'
import { median, percentile, rounded } from '../statistics.ts'

const WIDTH = 1_000
/** Flows that a round runs, one after the other. */
const COUNT = 5
const ROUNDS = 3

const WORKER_PROGRAM = new URL('../fanout/worker-process.ts', import.meta.url)

/** What the rounds with one number of worker processes measured. */
interface SharedRounds {
  readonly processes: number
  readonly rounds: SharedFanoutRound[]
}

async function run({ store, options, say, ...request }: ScenarioRequest): Promise<Measurement> {
  const machine = machineSettings()
  const order: FanoutOrder = { store, width: options.width ?? WIDTH, count: request.count ?? COUNT }
  const roundCount = request.rounds ?? ROUNDS
  const { metrics, ratios } =
    options.processes === undefined
      ? await runInProcess(order, roundCount, say)
      : await runShared(order, roundCount, options.processes, say)
  return {
    metrics,
    ratios,
    settings: {
      width: order.width,
      count: order.count,
      rounds: roundCount,
      concurrency: CONCURRENCY,
      prefetch: PREFETCH[store],
      ...storeSettings[store],
      ...machine,
    },
  }
}

type Numbers = Pick<Measurement, 'metrics' | 'ratios'>

async function runInProcess(order: FanoutOrder, roundCount: number, say: (line: string) => void): Promise<Numbers> {
  say('warming up')
  await measureFanout({ ...order, count: 1 })
  const rounds: FanoutRound[] = []
  for (let number = 1; number <= roundCount; number++) {
    const round = await measureFanout(order)
    rounds.push(round)
    say(`round ${number}: ${describe(round)}`)
  }
  return { metrics: metricsOf(rounds, order), ratios: {} }
}

async function runShared(
  order: FanoutOrder,
  roundCount: number,
  asked: readonly number[],
  say: (line: string) => void,
): Promise<Numbers> {
  if (order.store === 'memory')
    throw new Error('A store in memory lives in one process: --processes needs another store.')
  await using children = new AsyncDisposableStack()
  const largest = Math.max(...asked)
  const workers = Array.from({ length: largest }, () => children.use(new Child<WorkerDuties>(WORKER_PROGRAM)))
  say('warming up')
  await measureSharedFanout(workers, { ...order, count: 1 })

  const one: SharedRounds = { processes: 1, rounds: [] }
  const others = asked
    .filter((processes) => processes > 1)
    .map((processes): SharedRounds => ({ processes, rounds: [] }))
  for (let number = 0; number < roundCount; number++) {
    for (const { processes, rounds } of rotated([one, ...others], number)) {
      const round = await measureSharedFanout(workers.slice(0, processes), order)
      rounds.push(round)
      say(`round ${number + 1}, ${processes} processes: ${describe(round)}`)
    }
  }
  return {
    metrics: Object.assign({}, ...[one, ...others].map((own) => sharedMetrics(own, order))) as Record<string, number>,
    ratios: Object.fromEntries(others.map((own) => [`processes${own.processes}`, ratioTo(one, own)])),
  }
}

function sharedMetrics({ processes, rounds }: SharedRounds, order: FanoutOrder): Record<string, number> {
  return prefixed(`processes${processes}`, {
    ...metricsOf(rounds, order),
    conflictPercent: rounded(median(rounds.map(({ conflictShare }) => conflictShare * 100))),
  })
}

/** Above one, several processes complete a flow faster than one. */
function ratioTo(one: SharedRounds, several: SharedRounds): number {
  const times = ({ rounds }: SharedRounds) => rounds.map((round) => median(round.times.map(({ totalMs }) => totalMs)))
  const ofSeveral = times(several)
  return rounded(median(times(one).map((totalMs, i) => totalMs / (ofSeveral[i] ?? NaN))))
}

function metricsOf(rounds: readonly FanoutRound[], { width, count }: FanoutOrder): Record<string, number> {
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

function describe({ times }: FanoutRound): string {
  return `${times.map(({ totalMs }) => Math.round(totalMs)).join(', ')} ms`
}

export const fanout: Scenario = {
  summary: 'one root, many children after it, one join after all of them: from the submit to the end',
  run,
}
