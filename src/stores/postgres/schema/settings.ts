/** Settings that are fixed by the first user of the store and verified by every other. */
import { createHash } from 'node:crypto'
import { DATA_VERSION } from '../../../kernel/index.ts'
import { EngineError } from '../../../kernel/engine-error.ts'
import { refuseMismatch, sortedNames } from '../../server/fixed-settings.ts'
import { refuseOtherLevel } from '../../level/store-level.ts'
import type { Levels } from '../../level/store-level.ts'
import { SERVER_LIMIT_PARTITIONS, allPartitions, partitionNumber } from '../../partitions.ts'
import type { StoreSettings } from '../../store.ts'
import { applyPlan, planMigration, readMeta, refuseNewer, schemaState, underLock } from './migrate.ts'
import { quoted } from '../wire/session.ts'
import type { Session } from '../wire/session.ts'
import { migrations } from './migrations.ts'
import type { Migration } from './migrations.ts'
import { grantsFor } from '../boot/permission-check.ts'
import { causeOf, sqlState } from '../wire/postgres-error.ts'
import type { PostgresLocation } from '../options/postgres-location.ts'

/** Enough for parallel transactions of several processes; more would only make their batches smaller. */
const EXECUTION_PARTITIONS = 4

/** The largest key of an advisory lock with two keys. */
const LOCK_SPACE_MAX = 2_147_483_647
const PERMISSION_DENIED = '42501'

/** Options that are left out accept the stored value. */
export interface WantedSettings {
  readonly executionPartitions: number | undefined
  readonly indexedTags: readonly string[] | undefined
  /** The levels that the program can run. */
  readonly levels: Levels
}

export interface PostgresSettings extends StoreSettings {
  /** The first key of all advisory locks of this store, distinct from other stores of the database. */
  readonly lockSpace: number
  /** What the settings held when they were read. */
  readonly level: unknown
}

/** Returns the settings of the store; undefined if it was never used. Refuses a program that asks for other ones. */
export async function findSettings(
  session: Session,
  schema: string,
  wanted: WantedSettings,
  steps: readonly Migration[] = migrations,
): Promise<PostgresSettings | undefined> {
  const { version } = await schemaState(session, schema)
  if (version === 0) return undefined
  refuseOtherSchema(version, steps.length)
  const meta = await readMeta(session, schema)
  // The tables exist without settings: they were created by a privileged user for a program that may not create them.
  if (!meta.has('data_version')) return undefined
  const stored = storedIn(meta, schema)
  refuseOtherData(stored.dataVersion)
  refuseOtherLevel(meta.get('level'), wanted.levels)
  const { executionPartitions, limitPartitions, indexedTags, lockSpace } = stored
  if (wanted.executionPartitions !== undefined) {
    refuseMismatch('number of execution partitions', executionPartitions, wanted.executionPartitions)
  }
  if (wanted.indexedTags !== undefined) refuseMismatch('indexed tags', indexedTags, sortedNames(wanted.indexedTags))
  return { executionPartitions, limitPartitions, indexedTags, lockSpace, level: meta.get('level') }
}

/**
 * Sets the store up in a schema without tables, or with unused ones. If another process is faster, its settings are
 * verified instead. Tables of an older version are left as they are.
 */
export async function setUp(
  session: Session,
  { schema }: Pick<PostgresLocation, 'schema'>,
  wanted: WantedSettings,
  steps: readonly Migration[] = migrations,
): Promise<PostgresSettings> {
  try {
    await underLock(session, schema, async () => {
      const plan = await planMigration(session, schema, steps)
      if (plan.from > 0) refuseOtherSchema(plan.from, plan.to)
      await applyPlan(session, plan)
      const meta = await readMeta(session, schema)
      if (!meta.has('data_version')) await writeSettings(session, schema, wanted)
    })
  } catch (error) {
    throw sqlState(error) === PERMISSION_DENIED ? mayNotSetUp(schema, error) : error
  }
  const found = await findSettings(session, schema, wanted, steps)
  if (found === undefined) throw storeNotFound(schema)
  return found
}

export function storeNotFound(schema: string): EngineError {
  const message = `There is no store in the schema "${schema}" of the database yet. The first program that opens it to work sets it up.`
  return new EngineError('store_not_found', { field: 'location', message })
}

/**
 * Derived from the schema name, so processes that still use a recreated schema contend for the same locks. Two schemas
 * with the same number only wait for each other.
 */
function lockSpaceOf(schema: string): number {
  return 1 + (createHash('sha256').update(schema).digest().readUInt32BE(0) % LOCK_SPACE_MAX)
}

async function writeSettings(session: Session, schema: string, wanted: WantedSettings): Promise<void> {
  const count = wanted.executionPartitions ?? EXECUTION_PARTITIONS
  const indexedTags = sortedNames(wanted.indexedTags ?? [])
  const limitPartitions = SERVER_LIMIT_PARTITIONS
  const partitions = allPartitions({ executionPartitions: count, limitPartitions, indexedTags })
  await session.query(
    `insert into ${quoted(schema)}.partition (number, name) select * from unnest($1::integer[], $2::text[])`,
    [partitions.map(partitionNumber), partitions],
  )
  const settings = {
    data_version: DATA_VERSION,
    level: wanted.levels.max,
    execution_partitions: count,
    limit_partitions: limitPartitions,
    indexed_tags: indexedTags,
    lock_space: lockSpaceOf(schema),
  }
  await session.query(`insert into ${quoted(schema)}.meta (name, value) select * from unnest($1::text[], $2::text[])`, [
    Object.keys(settings),
    Object.values(settings).map((value) => JSON.stringify(value)),
  ])
}

function mayNotSetUp(schema: string, error: unknown): EngineError {
  const cause = causeOf(error)
  const message =
    `The store is not set up yet, and the user may not do so: ${cause.message}. ` +
    `Run "flowfabric migrate" with this location as a user who may create schemas, and then grant: ${grantsFor(schema)}`
  return new EngineError('invalid_configuration', { field: 'location', message }, { cause })
}

interface StoredSettings extends Omit<PostgresSettings, 'level'> {
  readonly dataVersion: number
}

function storedIn(meta: ReadonlyMap<string, unknown>, schema: string): StoredSettings {
  return {
    dataVersion: numberIn(meta, 'data_version', schema),
    executionPartitions: numberIn(meta, 'execution_partitions', schema),
    limitPartitions: meta.has('limit_partitions')
      ? numberIn(meta, 'limit_partitions', schema)
      : SERVER_LIMIT_PARTITIONS,
    lockSpace: numberIn(meta, 'lock_space', schema),
    indexedTags: namesIn(meta, 'indexed_tags', schema),
  }
}

function numberIn(meta: ReadonlyMap<string, unknown>, name: string, schema: string): number {
  const value = meta.get(name)
  if (typeof value === 'number' && Number.isSafeInteger(value) && value > 0) return value
  throw damaged(name, schema)
}

function namesIn(meta: ReadonlyMap<string, unknown>, name: string, schema: string): string[] {
  const value = meta.get(name)
  if (Array.isArray(value) && value.every((one) => typeof one === 'string')) return value
  throw damaged(name, schema)
}

function damaged(name: string, schema: string): EngineError {
  const message = `The row "${name}" of ${schema}.meta is missing or invalid.`
  return new EngineError('corruption', { field: 'location', message })
}

function refuseOtherSchema(found: number, known: number): void {
  refuseNewer(found, known)
  if (found === known) return
  throw new EngineError('older_schema', {
    message: `The store has schema version ${found}, this program needs schema version ${known}.`,
  })
}

function refuseOtherData(found: number): void {
  if (found > DATA_VERSION) {
    throw new EngineError('newer_schema', {
      message: `The store has data version ${found}, this program knows data version ${DATA_VERSION}.`,
    })
  }
  refuseMismatch('data version', found, DATA_VERSION)
}
