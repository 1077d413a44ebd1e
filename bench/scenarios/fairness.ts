/**
 * Many tenants share a lane by their weights, each with a backlog of another length. How far the share of a tenant is from its
 * weight, how long a tenant waits that arrives behind all of them, and what the turns cost.
 */
import { task } from '../../src/client/index.ts'
import { createFabric } from '../../src/fabric/fabric.ts'
import type { Fabric } from '../../src/fabric/fabric.ts'
import { freshStore, storeSettings } from '../bench-store.ts'
import type { BenchStore } from '../bench-store.ts'
import { machineSettings } from '../machine.ts'
import type { Measurement } from '../measurement.ts'
import type { Scenario, ScenarioRequest } from '../scenario.ts'
import { CONCURRENCY, PREFETCH } from '../stages.ts'
import { median, rounded } from '../statistics.ts'
import { LANE } from '../workload.ts'

const TENANTS = 1_000
/** Executions that are started before the shares are compared. */
const COUNT = 100_000
const ROUNDS = 1
/** Weights that tenants have in turn. */
const WEIGHTS = [1, 1, 1, 2, 4]
/**
 * Shortest and longest backlog of a tenant over what it gets during the measurement. The shortest is enough for a tenant to have work in
 * every partition to the end, although more is started in some of them than in others.
 */
const SKEW_MIN = 1.5
const SKEW_MAX = 5
/** Submits that are under way at once. */
const SUBMITS_AT_ONCE = 200

interface Work {
  readonly tenant: string
  readonly weight: number
}

const fairTask = task<Work, undefined>('bench.fair', {
  lane: LANE,
  fairness: ({ tenant, weight }) => ({ key: tenant, weight }),
})
const plainTask = task<Work, undefined>('bench.plain', { lane: LANE })

interface Round {
  /** The largest distance between the share of a tenant and its weight, as a part of it. */
  readonly deviation: number
  /** Executions of others that were started before the first one of the tenant that came last. */
  readonly startsBeforeLate: number
  readonly fairPerSecond: number
  readonly plainPerSecond: number
}

async function run({ store, options, say, ...request }: ScenarioRequest): Promise<Measurement> {
  const machine = machineSettings()
  const tenantCount = options.n ?? TENANTS
  const count = request.count ?? COUNT
  const rounds: Round[] = []
  for (let number = 1; number <= (request.rounds ?? ROUNDS); number++) {
    const round = await measureRound(store, tenantCount, count)
    rounds.push(round)
    say(
      `round ${number}: shares within ${rounded(round.deviation * 100)} %, ${round.startsBeforeLate} starts before the late tenant`,
    )
  }
  return {
    metrics: {
      deviationPercent: rounded(100 * Math.max(...rounds.map(({ deviation }) => deviation))),
      startsBeforeLate: Math.max(...rounds.map(({ startsBeforeLate }) => startsBeforeLate)),
      submitAndRunPerSecond: Math.round(median(rounds.map(({ fairPerSecond }) => fairPerSecond))),
    },
    ratios: { plain: rounded(median(rounds.map((round) => round.fairPerSecond / round.plainPerSecond))) },
    settings: {
      n: tenantCount,
      count,
      rounds: rounds.length,
      concurrency: CONCURRENCY,
      prefetch: PREFETCH[store],
      ...storeSettings[store],
      ...machine,
    },
  }
}

async function measureRound(store: BenchStore, tenantCount: number, count: number): Promise<Round> {
  const tenants = Array.from({ length: tenantCount }, (_, i) => {
    return { tenant: `tenant-${i}`, weight: WEIGHTS[i % WEIGHTS.length] ?? 1 }
  })
  const backlog = backlogOf(tenants, count)
  const plainPerSecond = count / (await runAll(store, plainTask, shuffled(backlog).slice(0, count)))
  const fairPerSecond = count / (await runAll(store, fairTask, shuffled(backlog).slice(0, count)))
  return { ...(await measureShares(store, tenants, backlog, count)), fairPerSecond, plainPerSecond }
}

/** Every tenant has at least what it gets, some much more. */
function backlogOf(tenants: readonly Work[], count: number): Work[] {
  const total = tenants.reduce((sum, { weight }) => sum + weight, 0)
  return tenants.flatMap((work, i) => {
    const gets = (count * work.weight) / total
    const skew = SKEW_MIN + (SKEW_MAX - SKEW_MIN) * ((i % 7) / 6)
    return Array.from({ length: Math.ceil(gets * skew) }, () => work)
  })
}

/** The seconds in which one worker runs executions that one client submits meanwhile. */
async function runAll(store: BenchStore, definition: typeof fairTask, works: readonly Work[]): Promise<number> {
  await using place = await freshStore(store)
  await using fabric = await createFabric(place.url)
  const done = Promise.withResolvers<undefined>()
  let left = works.length
  const handler = definition.handle(() => {
    if (--left === 0) done.resolve(undefined)
    return undefined
  })
  await fabric.work([handler], { concurrency: CONCURRENCY, prefetch: PREFETCH[store] })
  const startedAt = performance.now()
  await submitAll(fabric, definition, works)
  await done.promise
  return (performance.now() - startedAt) / 1_000
}

async function measureShares(
  store: BenchStore,
  tenants: readonly Work[],
  backlog: readonly Work[],
  count: number,
): Promise<Pick<Round, 'deviation' | 'startsBeforeLate'>> {
  await using place = await freshStore(store)
  await using fabric = await createFabric(place.url)
  await submitAll(fabric, fairTask, shuffled(backlog))
  const started: string[] = []
  const measured = Promise.withResolvers<undefined>()
  const lateStarted = Promise.withResolvers<number>()
  const handler = fairTask.handle(({ tenant }) => {
    if (tenant === 'late') lateStarted.resolve(started.length)
    started.push(tenant)
    if (started.length === count) measured.resolve(undefined)
    return undefined
  })
  await fabric.work([handler], { concurrency: CONCURRENCY, prefetch: 0 })
  await measured.promise
  const submittedAfter = started.length
  await fabric.submit(fairTask, { tenant: 'late', weight: 1 })
  const startsBeforeLate = (await lateStarted.promise) - submittedAfter
  return { deviation: deviationOf(tenants, started.slice(0, count)), startsBeforeLate }
}

function deviationOf(tenants: readonly Work[], started: readonly string[]): number {
  const counts = new Map<string, number>()
  for (const tenant of started) counts.set(tenant, (counts.get(tenant) ?? 0) + 1)
  const total = tenants.reduce((sum, { weight }) => sum + weight, 0)
  return Math.max(
    ...tenants.map(({ tenant, weight }) => {
      const expected = (started.length * weight) / total
      return Math.abs((counts.get(tenant) ?? 0) - expected) / expected
    }),
  )
}

async function submitAll(fabric: Fabric, definition: typeof fairTask, works: readonly Work[]): Promise<void> {
  for (let i = 0; i < works.length; i += SUBMITS_AT_ONCE) {
    await Promise.all(works.slice(i, i + SUBMITS_AT_ONCE).map((work) => fabric.submit(definition, work)))
  }
}

/** A fixed order in which the tenants are mixed. */
function shuffled(works: readonly Work[]): Work[] {
  const mixed = [...works]
  let state = 1
  for (let i = mixed.length - 1; i > 0; i--) {
    state = (state * 48_271) % 2_147_483_647
    const j = state % (i + 1)
    const other = mixed[j]
    if (other === undefined) continue
    mixed[j] = mixed[i] as Work
    mixed[i] = other
  }
  return mixed
}

export const fairness: Scenario = {
  summary:
    'divides a lane between tenants with backlogs of different lengths, and compares their shares with their weights',
  run,
}
