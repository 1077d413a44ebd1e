/**
 * Whether the tables of a store stop growing: executions pass through it at a steady rate and are removed soon after their
 * end, as are events, so that the store holds about the same all the time. What it takes up is looked at after each tenth.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { task } from '../../src/client/index.ts'
import { executionPartition } from '../../src/stores/store.ts'
import { createFabric } from '../../src/fabric/fabric.ts'
import type { Fabric } from '../../src/fabric/fabric.ts'
import type { PostgresServer } from '../../test/servers/postgres-server.ts'
import { until } from '../../test/servers/until.ts'
import { freshStore, postgresOf, storeSettings } from '../bench-store.ts'
import { atRate } from '../load.ts'
import { machineSettings } from '../machine.ts'
import type { Measurement, Settings } from '../measurement.ts'
import { capitalised } from '../metric-name.ts'
import type { Scenario, ScenarioRequest } from '../scenario.ts'
import { CONCURRENCY, PREFETCH } from '../stages.ts'
import { rounded } from '../statistics.ts'
import { autovacuumSettings, tableSizes } from '../table-sizes.ts'
import type { TableSize } from '../table-sizes.ts'
import { LANE, PAYLOAD_BYTES, TASK_NAME, loadOf } from '../workload.ts'
import type { Load } from '../workload.ts'

const COUNT = 200_000
const STEPS = 10
const PER_SECOND = 1_000
/**
 * How often the server looks for tables to clean. Between two looks the remains of all that passed stay where they are. By
 * itself it looks once a minute, of which this scenario would see three: too few to distinguish a bound from growth.
 */
const AUTOVACUUM_SECONDS = 10
const RETENTION_MS = 5_000
const PURGE_EVERY_MS = 1_000
const EVENTS_PER_PARTITION = 2_000
const PURGE_LIMIT_MS = 60_000
const SCHEMA = 'flowfabric'
/** A table that changes less than this in the whole time is none that could grow. */
const LEAST_CHANGES = 100
const BYTES_PER_MEGABYTE = 1_048_576

const noop = task<Load, number>(TASK_NAME, { lane: LANE, retention: RETENTION_MS })

/** What was there after one step. */
type Look = readonly TableSize[]

async function run({ store, say, ...request }: ScenarioRequest): Promise<Measurement> {
  const machine = machineSettings()
  const count = request.count ?? COUNT
  await using place = await freshStore(store)
  const server = postgresOf(place)
  await cleanOften(server)
  await using fabric = await createFabric(place.url)
  await fabric.work([noop.handle(({ number }) => number)], {
    concurrency: CONCURRENCY,
    prefetch: PREFETCH[store],
    engine: { intervals: { retention_trimmer: PURGE_EVERY_MS } },
  })
  const trimming = new AbortController()
  const trimmed = trimEvents(fabric, trimming.signal)

  const looks: Look[] = []
  for (let step = 1; step <= STEPS; step++) {
    const share = Math.floor((count * step) / STEPS) - Math.floor((count * (step - 1)) / STEPS)
    await atRate(share, PER_SECOND, (number) => fabric.submit(noop, loadOf(number)))
    const look = await changingTables(server)
    looks.push(look)
    say(`${(100 * step) / STEPS} %: ${describe(look)}`)
  }
  await untilPurged(fabric)
  trimming.abort()
  await trimmed
  return {
    metrics: { ...totalMetrics(looks), ...tableMetrics(looks) },
    ratios: { growth: growthOf(looks) },
    settings: { count, ...(await settingsOf(server, looks)), ...storeSettings[store], ...machine },
  }
}

async function cleanOften(server: PostgresServer): Promise<void> {
  await server.query(`alter system set autovacuum_naptime = '${AUTOVACUUM_SECONDS}s'`)
  await server.query('select pg_reload_conf()')
}

/** Keeps the last events of each partition. The engine keeps those of a day, which would not go in the time of this. */
async function trimEvents({ batcher }: Fabric, signal: AbortSignal): Promise<void> {
  const { store } = batcher
  while (!signal.aborted) {
    for (let number = 0; number < store.settings.executionPartitions; number++) {
      await store.trimEvents(executionPartition(number), 0, EVENTS_PER_PARTITION)
    }
    await sleep(PURGE_EVERY_MS)
  }
}

/** Sizes mean nothing if records that should be removed had stayed. */
async function untilPurged(fabric: Fabric): Promise<void> {
  await until('all executions are removed', PURGE_LIMIT_MS, async () => {
    const [lane] = await fabric.lanes(LANE)
    return lane === undefined || Object.values(lane.counts).every((some) => some === 0) || undefined
  })
}

async function changingTables(server: PostgresServer): Promise<Look> {
  const tables = await tableSizes(server, SCHEMA)
  return tables.filter(({ changes }) => changes >= LEAST_CHANGES)
}

function totalOf(look: Look): number {
  return look.reduce((sum, { bytes }) => sum + bytes, 0)
}

/** The largest size of the second half over the largest of the first: about one, if there is a bound. */
function growthOf(looks: readonly Look[]): number {
  const largest = (some: readonly Look[]) => Math.max(...some.map(totalOf))
  return rounded(largest(looks.slice(STEPS / 2)) / largest(looks.slice(0, STEPS / 2)))
}

function totalMetrics(looks: readonly Look[]): Record<string, number> {
  return Object.fromEntries(looks.map((look, index) => [`totalBytesAt${(100 * (index + 1)) / STEPS}`, totalOf(look)]))
}

/** Of each table: how it ended, and the most that it took up. */
function tableMetrics(looks: readonly Look[]): Record<string, number> {
  const metrics: Record<string, number> = {}
  for (const { table, changes: _, updates, hotUpdates, options: __, ...numbers } of looks.at(-1) ?? []) {
    const sizes = looks.flatMap((look) => look.filter((one) => one.table === table))
    metrics[`${table}PeakBytes`] = Math.max(...sizes.map(({ bytes }) => bytes))
    for (const [name, value] of Object.entries(numbers)) metrics[`${table}${capitalised(name)}`] = value
    if (updates > 0) metrics[`${table}HotShare`] = rounded(hotUpdates / updates)
  }
  return metrics
}

async function settingsOf(server: PostgresServer, looks: readonly Look[]): Promise<Settings> {
  const tables = looks.at(-1) ?? []
  return {
    perSecond: PER_SECOND,
    payloadBytes: PAYLOAD_BYTES,
    retentionMs: RETENTION_MS,
    purgeEveryMs: PURGE_EVERY_MS,
    eventsPerPartition: EVENTS_PER_PARTITION,
    ...Object.fromEntries(tables.map(({ table, options }) => [`${table}Options`, options])),
    ...(await autovacuumSettings(server)),
  }
}

function describe(look: Look): string {
  const megabytes = (bytes: number) => (bytes / BYTES_PER_MEGABYTE).toFixed(1)
  const texts = look.map(
    ({ table, tableBytes, indexBytes, deadRows, autovacuums }) =>
      `${table} ${megabytes(tableBytes)}+${megabytes(indexBytes)} (${deadRows} dead, vacuumed ${autovacuums}x)`,
  )
  return `${megabytes(totalOf(look))} MB: ${texts.join(', ')}`
}

export const bloat: Scenario = {
  summary: `${PER_SECOND} executions a second, each removed ${RETENTION_MS} ms after its end: what the tables take up`,
  run,
}
