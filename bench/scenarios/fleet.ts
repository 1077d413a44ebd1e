/**
 * Processes that share the work of whole lives on one Valkey server, beside the same number of processes of BullMQ. Every
 * measurement is run by both before the next begins, and each round begins with the other.
 */
import { storeSettings } from '../bench-store.ts'
import { serverBusyShare, serverMicros, wireBytes, wireMetrics } from '../effort.ts'
import { measureFleet } from '../fleet/measure-fleet.ts'
import type { FleetEffort, Member } from '../fleet/measure-fleet.ts'
import type { FleetSystem, MemberDuties } from '../fleet/member-process.ts'
import { NO_TIMERS, RETRY_BACKOFF_MS, SUBMIT_DELAY_MS, hasTimers } from '../fleet/timers.ts'
import type { Timers } from '../fleet/timers.ts'
import { eachInTurn, measuredOf } from '../in-turn.ts'
import type { ByName } from '../in-turn.ts'
import { machineSettings } from '../machine.ts'
import type { Measurement } from '../measurement.ts'
import { capitalised, prefixed } from '../metric-name.ts'
import { Child } from '../processes/child.ts'
import { rotated } from '../rotation.ts'
import type { Scenario, ScenarioRequest } from '../scenario.ts'
import { CONCURRENCY, PREFETCH, ROUNDS, SUBMITS_IN_FLIGHT } from '../stages.ts'
import { median, rounded } from '../statistics.ts'
import { PAYLOAD_BYTES } from '../workload.ts'

const PROCESSES = [1, 2, 4]
/** Executions of one measurement, over all processes. Enough that the last timers do not count. */
const COUNT = 20_000
const WARM_UP_COUNT = 4_000

const systems = [{ name: 'flowfabric' }, { name: 'bullmq' }] as const satisfies readonly { name: FleetSystem }[]

/** One number of processes, with or without timers. */
interface Case {
  readonly processes: number
  readonly timers: Timers
}

/** What the rounds of one case measured. */
interface CaseRounds extends Case {
  readonly rounds: ByName<FleetEffort>[]
}

type Members = Readonly<Record<FleetSystem, readonly Member[]>>

async function run({ options, say, store, ...request }: ScenarioRequest): Promise<Measurement> {
  const machine = machineSettings()
  const processes = options.processes ?? PROCESSES
  const count = request.count ?? COUNT
  const roundCount = request.rounds ?? ROUNDS
  const timers: Timers = { delayedShare: options.delayed ?? 0, retryShare: options.retry ?? 0 }
  const cases = processes.flatMap((number) => casesOf(number, timers))

  await using children = new AsyncDisposableStack()
  const startMembers = () =>
    Array.from({ length: Math.max(...processes) }, () => children.use(new Child<MemberDuties>(MEMBER_PROGRAM)))
  const members: Members = { flowfabric: startMembers(), bullmq: startMembers() }
  const measure = (name: FleetSystem, one: Case, lives: number) => {
    const own = members[name].slice(0, one.processes)
    return measureFleet({ system: name, members: own, count: lives, timers: one.timers, delayMs: options.delay })
  }

  say('warming up')
  const largest = { processes: Math.max(...processes), timers: NO_TIMERS }
  for (const { name } of systems) await measure(name, largest, Math.min(count, WARM_UP_COUNT))
  for (let number = 0; number < roundCount; number++) {
    for (const one of cases) {
      const round = await eachInTurn(rotated(systems, number), ({ name }) => measure(name, one, count))
      one.rounds.push(round)
      for (const { name } of systems) say(`round ${number + 1}: ${describe(name, one, measuredOf(round, name))}`)
    }
  }
  return {
    metrics: Object.assign({}, ...cases.map((one) => metricsOf(one, count))) as Record<string, number>,
    ratios: Object.assign({}, ...cases.map((one) => ratiosOf(one, cases, count))) as Record<string, number>,
    settings: {
      processes: processes.join(','),
      count,
      rounds: roundCount,
      payloadBytes: PAYLOAD_BYTES,
      submitsInFlightEach: SUBMITS_IN_FLIGHT,
      concurrencyEach: CONCURRENCY,
      prefetchEach: PREFETCH[store],
      ...(hasTimers(timers) && { ...timers, submitDelayMs: SUBMIT_DELAY_MS, retryBackoffMs: RETRY_BACKOFF_MS }),
      ...(options.delay !== undefined && { delayMs: options.delay }),
      ...storeSettings[store],
      ...machine,
    },
  }
}

const MEMBER_PROGRAM = new URL('../fleet/member-process.ts', import.meta.url)

function casesOf(processes: number, timers: Timers): CaseRounds[] {
  const plain = { processes, timers: NO_TIMERS, rounds: [] }
  return hasTimers(timers) ? [plain, { processes, timers, rounds: [] }] : [plain]
}

/** As in `flowfabric4` and `flowfabric4Timed`. */
function prefixOf(name: string, { processes, timers }: Case): string {
  return `${name}${processes}${hasTimers(timers) ? 'Timed' : ''}`
}

function metricsOf(one: CaseRounds, count: number): Record<string, number> {
  return Object.assign({}, ...systems.map(({ name }) => systemMetrics(name, one, count))) as Record<string, number>
}

function systemMetrics(name: FleetSystem, one: CaseRounds, count: number): Record<string, number> {
  const efforts = one.rounds.map((round) => measuredOf(round, name))
  const middle = (value: (effort: FleetEffort) => number) => median(efforts.map(value))
  return prefixed(prefixOf(name, one), {
    livesPerSecond: Math.round(middle(({ perSecond }) => perSecond)),
    serverCpuMicros: rounded(middle((effort) => serverMicros(effort, count))),
    clientCpuMicros: rounded(middle(({ clientMicros }) => clientMicros)),
    serverBusy: rounded(middle((effort) => serverBusyShare(effort, count))),
    ...(name === 'flowfabric' && { conflictPercent: rounded(middle(({ conflictShare }) => conflictShare * 100)) }),
    ...wireMetrics(efforts, count),
  })
}

/** Of rates, above one, FlowFabric is faster; of lives for a second of server CPU, above one, FlowFabric needs less. */
function ratiosOf(one: CaseRounds, cases: readonly CaseRounds[], count: number): Record<string, number> {
  const middle = (ratio: (ours: FleetEffort, theirs: FleetEffort) => number) =>
    rounded(median(one.rounds.map((round) => ratio(measuredOf(round, 'flowfabric'), measuredOf(round, 'bullmq')))))
  const ratios = prefixed(prefixOf('bullmq', one), {
    rate: middle((ours, theirs) => ours.perSecond / theirs.perSecond),
    livesPerServerCpu: middle((ours, theirs) => serverMicros(theirs, count) / serverMicros(ours, count)),
    clientCpu: middle((ours, theirs) => ours.clientMicros / theirs.clientMicros),
    wireBytes: middle((ours, theirs) => (wireBytes(ours, count) ?? NaN) / (wireBytes(theirs, count) ?? NaN)),
  })
  return { ...ratios, ...timedRatios(one, cases) }
}

/** The rate with timers over the rate without, for the same system, number of processes and round. */
function timedRatios(one: CaseRounds, cases: readonly CaseRounds[]): Record<string, number> {
  const plain = cases.find(({ processes, timers }) => processes === one.processes && !hasTimers(timers))
  if (plain === undefined || plain === one) return {}
  const ratios = systems.map(({ name }) => {
    const rates = (rounds: readonly ByName<FleetEffort>[]) => rounds.map((round) => measuredOf(round, name).perSecond)
    const without = rates(plain.rounds)
    const values = rates(one.rounds).map((rate, i) => rate / (without[i] ?? NaN))
    return [`timed${one.processes}${capitalised(name)}`, rounded(median(values))] as const
  })
  return Object.fromEntries(ratios)
}

function describe(name: FleetSystem, one: Case, effort: FleetEffort): string {
  const rate = `${Math.round(effort.perSecond)}/s, client ${Math.round(effort.clientMicros)} µs each`
  const conflicts = name === 'flowfabric' ? `, conflicts ${rounded(effort.conflictShare * 100)} %` : ''
  const timers = hasTimers(one.timers) ? ' with timers' : ''
  return `${name}, ${one.processes} processes${timers}: ${rate}${conflicts}`
}

export const fleet: Scenario = {
  summary: 'processes that share the work of one Valkey server, beside as many processes of BullMQ, in turn',
  run,
}
