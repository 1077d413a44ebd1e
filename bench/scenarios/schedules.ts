/**
 * What schedules cost an engine between their firings, as commands that the servers of the store run, beside the same engine
 * without schedules; and how late the firings of many schedules are that are due in one second.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { task } from '../../src/client/index.ts'
import { createFabric } from '../../src/fabric/fabric.ts'
import type { EngineSettings, Fabric } from '../../src/fabric/fabric.ts'
import { until } from '../../test/servers/until.ts'
import { freshStore, storeSettings, valkeyNodes } from '../bench-store.ts'
import type { BenchStore, StorePlace } from '../bench-store.ts'
import { withInFlight } from '../load.ts'
import { machineSettings } from '../machine.ts'
import type { Measurement } from '../measurement.ts'
import type { Scenario, ScenarioRequest } from '../scenario.ts'
import { percentile, rounded } from '../statistics.ts'
import { ValkeyWatch, allCalls } from '../valkey-watch.ts'
import { LANE } from '../workload.ts'

const SCHEDULES = 10_000
/** Schedules that are due in one second. */
const DUE = 1_000
const IDLE_SECONDS = 60
const ROUNDS = 3
const AT_ONCE = 100
/** The first cycles of an engine read more than the later ones. */
const SETTLE_MS = 5_000
const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const SECOND_MS = 1_000
const PAGE = 200
const FIRED_LIMIT_MS = 60_000
const UNDISTURBED_MS = 3_000

const tick = task<number, undefined>('bench.tick', { lane: LANE })

async function run({ store, say, options, ...request }: ScenarioRequest): Promise<Measurement> {
  const machine = machineSettings()
  const count = request.count ?? SCHEDULES
  const due = options.n ?? DUE
  const rounds = request.rounds ?? ROUNDS
  await using place = await freshStore(store)
  await using fabric = await createFabric(place.url)
  const without = await idleCommands(store, place, say, 'no schedule')
  const startedAt = performance.now()
  await configure(fabric, 'idle', count, (i) => Date.now() + HOUR_MS + i)
  const perSecond = count / ((performance.now() - startedAt) / SECOND_MS)
  say(`configured ${count} schedules, ${Math.round(perSecond)} in a second`)
  const withSchedules = await idleCommands(store, place, say, `${count} schedules`)
  fabric.engine()

  const lateMs: number[] = []
  for (let round = 1; round <= rounds; round++) {
    const found = await fireAtOnce(fabric, `round-${round}`, due)
    say(`round ${round}: half within ${percentile(found, 0.5)} ms, 99 % within ${percentile(found, 0.99)} ms`)
    lateMs.push(...found)
  }
  const isCounted = withSchedules !== undefined && without !== undefined
  return {
    metrics: {
      ...(isCounted
        ? {
            idleCommandsPerSecond: withSchedules.whole,
            unreconciledCommandsPerSecond: withSchedules.unreconciled,
            emptyCommandsPerSecond: without.whole,
            emptyUnreconciledCommandsPerSecond: without.unreconciled,
          }
        : {}),
      latenessP50Ms: percentile(lateMs, 0.5),
      latenessP99Ms: percentile(lateMs, 0.99),
      latenessMaxMs: Math.max(...lateMs),
      configuredPerSecond: Math.round(perSecond),
    },
    ratios: isCounted ? { unreconciled: rounded(withSchedules.unreconciled / without.unreconciled) } : {},
    settings: {
      count,
      n: due,
      rounds,
      idleSeconds: IDLE_SECONDS,
      partitions: fabric.batcher.store.settings.executionPartitions,
      ...storeSettings[store],
      ...machine,
    },
  }
}

interface Idle {
  readonly whole: number
  /** Without the index reconciler, which looks at all records again and again at a bounded rate. */
  readonly unreconciled: number
}

/** Commands in a second of an engine of its own. Undefined for a store without a server that counts commands. */
async function idleCommands(
  store: BenchStore,
  place: StorePlace,
  say: ScenarioRequest['say'],
  what: string,
): Promise<Idle | undefined> {
  if (store !== 'valkey' && store !== 'valkey-cluster') return undefined
  const count = async (intervals: EngineSettings['intervals']): Promise<number> => {
    await using fabric = await createFabric(place.url)
    fabric.engine({ intervals })
    await sleep(SETTLE_MS)
    const watch = await ValkeyWatch.begin(valkeyNodes(place))
    await sleep(IDLE_SECONDS * SECOND_MS)
    return rounded(allCalls(await watch.end()).calls / IDLE_SECONDS)
  }
  const whole = await count({})
  const unreconciled = await count({ index_reconciler: 0 })
  say(`${what}: ${whole} commands in a second of an idle engine, ${unreconciled} without the index reconciler`)
  return { whole, unreconciled }
}

/** Configures schedules of a day's period, each with its first boundary at a time of its own. */
async function configure(
  fabric: Fabric,
  prefix: string,
  count: number,
  firstAt: (number: number) => number,
): Promise<void> {
  await withInFlight(count, AT_ONCE, async (number) => {
    const options = { task: tick, input: number, every: DAY_MS, from: firstAt(number) }
    await fabric.schedule(`${prefix}-${number}`, options)
  })
}

/** Returns how late each of the firings was that were due in one second: from its boundary to its creation, by the clock of the store. */
async function fireAtOnce(fabric: Fabric, prefix: string, count: number): Promise<number[]> {
  // Generous, so that all of them are stored before the first one is due.
  const firstAt = Date.now() + 5_000 + 10 * count
  await configure(fabric, prefix, count, (number) => firstAt + Math.floor((number * SECOND_MS) / count))
  if (Date.now() >= firstAt) throw new Error('The schedules were not configured before the first one was due.')
  // Listing them while they fire would delay those that are measured.
  await sleep(firstAt + SECOND_MS + UNDISTURBED_MS - Date.now())
  return await until('all schedules have fired', FIRED_LIMIT_MS, async () => {
    const found = await latenessSince(fabric, firstAt)
    return found.length === count ? found : undefined
  })
}

async function latenessSince(fabric: Fabric, since: number): Promise<number[]> {
  const found: number[] = []
  let cursor: string | undefined
  do {
    const page = await fabric.list({ task: tick.name, createdFrom: since, limit: PAGE, cursor })
    for (const { createdAt, schedule } of page.items) found.push(createdAt - (schedule?.at ?? 0))
    cursor = page.cursor
  } while (cursor !== undefined)
  return found
}

export const schedules: Scenario = {
  summary:
    'what an engine asks of the servers while --count schedules wait, and how late --n schedules fire that are due in one second',
  run,
}
