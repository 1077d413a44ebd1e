/** What a world is made of. A seed alone gives a whole configuration; shortening takes parts of it away. */
import { Chance } from './chance.ts'
import { flowKinds, followedFlowKinds, wideFlowKinds } from './flow-kinds.ts'
import { crowd, kinds, routed } from './kinds.ts'
import type { FaultName, FaultRates } from './weather.ts'

export interface WorldConfig {
  readonly seed: number
  readonly clients: number
  readonly workers: number
  readonly engines: number
  /** Clients also work and have an engine, as a program does that needs only one process. */
  readonly areClientsWorkers: boolean
  readonly partitions: number
  /** Each with a number that decides whatever else is drawn for it, so that it stays the same when others are left out. */
  readonly works: readonly WorkItem[]
  /** Over this time they are submitted. */
  readonly submitWithinMs: number
  readonly rates: FaultRates
  /** When the first worker gets the new program; undefined if all have it from the start. */
  readonly deployAtMs: number | undefined
  /** Steps of the scheduler after which faults end, if the work has not come to its end before. */
  readonly steps: number
  /** After this much calm, what the storm left on its way has arrived, and backoffs after a failure are over. */
  readonly aftermathMs: number
  readonly leaseTtlMs: number
  readonly concurrency: number
  readonly prefetch: number
}

export interface WorkItem {
  readonly number: number
  /** The name of its kind, or of a kind of flow. */
  readonly kind: string
}

/** More than one partition, and few enough that executions meet. */
const PARTITION_COUNT = 2
const WORKS_MIN = 8
const WORKS_MAX = 32
const CROWD_RATE = 0.08
/** How many worlds have a flow that is too wide for one call. */
const WIDE_RATE = 0.08
/** How many worlds have work with needs, and how much. */
const ROUTED_RATE = 0.15
const ROUTED_MAX = 6
/** How many worlds have flows that are submitted again while they run, and how many. */
const FOLLOWED_RATE = 0.15
const FOLLOWED_MAX = 2
const ALL_IN_ONE_RATE = 0.3
const SUBMIT_WITHIN_MS = 8_000
const DEPLOY_RATE = 0.5
const DEPLOY_WITHIN_MS = { least: 300, most: 4_000 }
const AFTERMATH_MS = 10_000
export const DEFAULT_STEPS = 2_500

/** The most that each rate is drawn up to. */
const RATES: FaultRates = {
  crash: 0.004,
  graceful_stop: 0.002,
  pause: 0.004,
  store_clock_jump: 0.002,
  own_clock_jump: 0.002,
  outage: 0.001,
  refused: 0.05,
  reply_lost: 0.08,
  repeated: 0.06,
  cut: 0.2,
  delayed: 0.1,
  wake_lost: 0.2,
  wake_delayed: 0.2,
  wake_vague: 0.6,
}

export const faultNames = Object.keys(RATES) as FaultName[]

/** Each kind of fault is left out of every third world, so that each is met alone and together with every other. */
const LEFT_OUT_RATE = 0.35

export function drawConfig(seed: number, steps = DEFAULT_STEPS): WorldConfig {
  const chance = new Chance(seed).fork('config')
  const rates = Object.fromEntries(
    faultNames.map((name) => [name, chance.happens(LEFT_OUT_RATE) ? 0 : RATES[name] * (0.3 + 0.7 * chance.fraction())]),
  ) as unknown as FaultRates
  return {
    seed,
    clients: chance.between(1, 3),
    workers: chance.between(1, 3),
    engines: chance.between(1, 2),
    areClientsWorkers: chance.happens(ALL_IN_ONE_RATE),
    partitions: PARTITION_COUNT,
    works: drawWorks(chance),
    submitWithinMs: SUBMIT_WITHIN_MS,
    rates,
    deployAtMs: chance.happens(DEPLOY_RATE) ? chance.between(DEPLOY_WITHIN_MS.least, DEPLOY_WITHIN_MS.most) : undefined,
    steps,
    aftermathMs: AFTERMATH_MS,
    leaseTtlMs: chance.pick([1_000, 1_500, 2_500]),
    concurrency: chance.between(1, 5),
    prefetch: chance.between(0, 4),
  }
}

const workNames = [...kinds, ...flowKinds].map(({ name }) => name)

function drawWorks(chance: Chance): WorkItem[] {
  const count = chance.between(WORKS_MIN, WORKS_MAX)
  const works = Array.from({ length: count }, (_, number) => ({ number, kind: chance.pick(workNames) }))
  if (chance.happens(CROWD_RATE)) works.push({ number: works.length, kind: crowd.name })
  if (chance.happens(WIDE_RATE)) works.push({ number: works.length, kind: chance.pick(wideFlowKinds).name })
  const routing = chance.fork('routing')
  const routedCount = routing.happens(ROUTED_RATE) ? routing.between(1, ROUTED_MAX) : 0
  for (let i = 0; i < routedCount; i++) works.push({ number: works.length, kind: routed.name })
  const following = chance.fork('followed flows')
  const followedCount = following.happens(FOLLOWED_RATE) ? following.between(1, FOLLOWED_MAX) : 0
  for (let i = 0; i < followedCount; i++) {
    works.push({ number: works.length, kind: following.pick(followedFlowKinds).name })
  }
  return works
}

/** No faults at all. */
export const noFaults = Object.fromEntries(faultNames.map((name) => [name, 0])) as unknown as FaultRates
