/** What is fixed when the store is first used: written in one step by whoever comes first, verified by everyone. */
import { createHash } from 'node:crypto'
import { DATA_VERSION } from '../../../kernel/index.ts'
import { EngineError } from '../../../kernel/engine-error.ts'
import { refuseOther, sorted } from '../../server/fixed-settings.ts'
import { refuseOtherLevel } from '../../level/store-level.ts'
import type { Levels } from '../../level/store-level.ts'
import { executionPartition } from '../../store.ts'
import type { StoreSettings } from '../../store.ts'
import { applyPlan, planMigration, readMeta, refuseNewer, schemaState, underLock } from './migrate.ts'
import { quoted } from '../wire/session.ts'
import type { Session } from '../wire/session.ts'
import { migrations } from './migrations.ts'
import type { Migration } from './migrations.ts'
import { grantsFor } from '../boot/permission-check.ts'
import { causeOf, sqlState } from '../wire/postgres-error.ts'
import type { PostgresLocation } from '../options/postgres-location.ts'

/** Transactions of several processes work side by side; more would only make the batches of each smaller. */
const EXECUTION_PARTITIONS = 4

/** The largest number that an advisory lock of two numbers takes. */
const LOCK_SPACE_MAX = 2_147_483_647
const PERMISSION_DENIED = '42501'

/** Left out, whatever the store was set up with. */
export interface WantedSettings {
  readonly executionPartitions: number | undefined
  readonly indexedTags: readonly string[] | undefined
  /** The levels that the program can run. */
  readonly levels: Levels
}

export interface PostgresSettings extends StoreSettings {
  /** The first number of all advisory locks of this store: others on the same database have others. */
  readonly lockSpace: number
}

/** What the store was set up with; undefined if nobody has used it yet. Refuses a program that asks for anything else. */
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
  // The tables are there and nobody has used them: they were made by whoever may make them, for a program that may not.
  if (!meta.has('data_version')) return undefined
  const stored = storedIn(meta, schema)
  refuseOtherData(stored.dataVersion)
  refuseOtherLevel(meta.get('level'), wanted.levels)
  const { executionPartitions, indexedTags, lockSpace } = stored
  if (wanted.executionPartitions !== undefined) {
    refuseOther('number of execution partitions', executionPartitions, wanted.executionPartitions)
  }
  if (wanted.indexedTags !== undefined) refuseOther('indexed tags', indexedTags, sorted(wanted.indexedTags))
  return { executionPartitions, indexedTags, lockSpace }
}

/**
 * Sets the store up in a place without tables, or in tables that nobody has used yet, unless somebody else is quicker: then
 * his settings count, and are checked. Tables of an older version are left as they are.
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
  const message = `Nobody has used a store in the schema "${schema}" of the database yet. If its tables are there, the first program that opens it to work makes the rest.`
  return new EngineError('store_not_found', { field: 'location', message })
}

/**
 * The same for the same name, so that who goes on with a schema that was dropped and made again has the locks of whoever
 * made it. Should two names of one database have the same number, their stores wait for each other and do no harm.
 */
function lockSpaceOf(schema: string): number {
  return 1 + (createHash('sha256').update(schema).digest().readUInt32BE(0) % LOCK_SPACE_MAX)
}

async function writeSettings(session: Session, schema: string, wanted: WantedSettings): Promise<void> {
  const count = wanted.executionPartitions ?? EXECUTION_PARTITIONS
  const numbers = Array.from({ length: count }, (_, number) => number)
  await session.query(
    `insert into ${quoted(schema)}.partition (number, name) select * from unnest($1::integer[], $2::text[])`,
    [numbers, numbers.map(executionPartition)],
  )
  const settings = {
    data_version: DATA_VERSION,
    level: wanted.levels.max,
    execution_partitions: count,
    indexed_tags: sorted(wanted.indexedTags ?? []),
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
    `Nobody has used the store yet, and the user may not set it up: ${cause.message}. ` +
    `Let somebody who may create schemas run "flowfabric migrate" with this location, and then grant: ${grantsFor(schema)}`
  return new EngineError('invalid_configuration', { field: 'location', message }, { cause })
}

interface StoredSettings extends PostgresSettings {
  readonly dataVersion: number
}

function storedIn(meta: ReadonlyMap<string, unknown>, schema: string): StoredSettings {
  return {
    dataVersion: numberIn(meta, 'data_version', schema),
    executionPartitions: numberIn(meta, 'execution_partitions', schema),
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
  const message = `The row "${name}" of ${schema}.meta is missing, or is not what a store writes there.`
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
  refuseOther('data version', found, DATA_VERSION)
}
