/** Brings the schema, layout and level of a store up to this version of the program. Runs no operation. */
import { systemRuntime } from '../../runtime/index.ts'
import type { Log, Runtime } from '../../runtime/index.ts'
import type { ProcessInfo } from '../level/level-place.ts'
import type { LevelMigration } from '../level/raise-level.ts'
import { programLevels } from '../level/store-level.ts'
import type { Levels } from '../level/store-level.ts'
import { boolean, shape, unchecked } from '../../options/shape.ts'
import { parseLocation } from './location.ts'
import type { StoreLocation } from './location.ts'
import { loadSqlite, openStore } from './open-store.ts'
import { EngineError } from '../../kernel/engine-error.ts'
import type { PostgresLocation } from '../postgres/options/postgres-location.ts'
import { checkPostgresOptions } from '../postgres/options/postgres-options.ts'
import type { PostgresOptions } from '../postgres/options/postgres-options.ts'
import type { LayoutMigration } from '../valkey/migration/migrate-layout.ts'
import type { MovedCounts } from '../valkey/migration/key-mover.ts'
import type { ValkeyLocation } from '../valkey/options/valkey-location.ts'
import { checkValkeyOptions } from '../valkey/options/valkey-options.ts'
import type { ValkeyOptions } from '../valkey/options/valkey-options.ts'

export type { LevelMigration, MovedCounts, ProcessInfo }

export interface MigrateStoreOptions {
  /** Reports the pending steps and changes nothing. */
  readonly dryRun?: boolean | undefined
  /** For a Valkey store: migrate although a program of another version may still be running. */
  readonly force?: boolean | undefined
  /** For a Valkey store: receives after each step what was moved, and what there was to move at the start. */
  readonly onProgress?: ((moved: MovedCounts, total: MovedCounts) => void) | undefined
  /** For a Valkey store: ends the migration between two steps. Calling again resumes there. */
  readonly signal?: AbortSignal | undefined
  readonly valkey?: ValkeyOptions | undefined
  readonly postgres?: PostgresOptions | undefined
  readonly runtime?: Runtime | undefined
  /** For a Valkey store: receives values that could not be read. */
  readonly log?: Log | undefined
}

/** The check of the store's kind covers its options. */
const migrateOptions = shape<MigrateStoreOptions>()('{ dryRun: true }', {
  dryRun: boolean,
  force: boolean,
  onProgress: unchecked(),
  signal: unchecked(),
  valkey: unchecked(),
  postgres: unchecked(),
  runtime: unchecked(),
  log: unchecked(),
})

export interface MigrationStep {
  readonly title: string
  readonly sql: string
}

export type MigrateStoreResult = PlaceMigration & {
  /** The outcome of raising the level. Absent for a store in memory, and where the store was never used or waits for other steps. */
  readonly level?: LevelMigration | undefined
}

type PlaceMigration =
  | {
      /** What was missing has been done, would be done by anything but a dry run, or there is none. */
      readonly kind: 'migrated' | 'pending' | 'up_to_date'
      /** Versions of the tables, 0 where there are none; of the layout of keys and values, for a Valkey store. */
      readonly from: number
      readonly to: number
      /** Statements, for a Postgres store. */
      readonly steps: readonly MigrationStep[]
      /** What was moved, or would be, for a Valkey store. */
      readonly counts?: MovedCounts | undefined
    }
  /** Opening a store of this kind is all that it needs; unless it was a dry run, it has been opened. */
  | { readonly kind: 'ready_when_opened' }

/** A step may rewrite tables of any size. Without a reply for this long, the connection counts as lost. */
const STEP_TIMEOUT_MS = 12 * 3_600_000

/** The levels and the clock of the migrating program. */
interface Program {
  readonly levels: Levels
  /** The clock by which announcements lapse. The server's, except in tests that move time. */
  readonly clock: 'server' | 'runtime'
}

/**
 * Brings the tables of a Postgres store up to this version, or makes them, so that a program that may not do so itself can
 * use the store. Nothing else ever changes tables that are there already. Moves the data of a Valkey store to the layout of
 * this version, which no other program may use meanwhile.
 * Then raises the level of the store by one step, if this program and every live process can run the next one. Processes
 * keep working meanwhile.
 *
 * @example
 * const { kind } = await migrateStore('postgres://owner@localhost/shop', { postgres: { password } })
 */
export async function migrateStore(location: string, options: MigrateStoreOptions = {}): Promise<MigrateStoreResult> {
  migrateOptions(options)
  return await migrateAs({ levels: programLevels, clock: 'server' }, location, options)
}

/** Migrates a store as a program that may run other levels than this one: for tests. */
export async function migrateAs(
  program: Program,
  location: string,
  options: MigrateStoreOptions,
): Promise<MigrateStoreResult> {
  const parsed = parseLocation(location)
  if (parsed.kind === 'remote') throw notMigratedHere()
  const place = await migratePlace(program, location, parsed, options)
  const level = await migrateLevel(program, parsed, options)
  return level === undefined ? place : { ...place, level }
}

function notMigratedHere(): EngineError {
  const message = 'A store is migrated with its own location, not with the address of a server.'
  return new EngineError('invalid_configuration', { field: 'location', message })
}

async function migratePlace(
  program: Program,
  location: string,
  parsed: StoreLocation,
  options: MigrateStoreOptions,
): Promise<PlaceMigration> {
  if (parsed.kind === 'postgres') return await migratePostgres(parsed, options)
  const moved = parsed.kind === 'valkey' ? await migrateValkey(parsed, program.levels, options) : undefined
  if (options.dryRun !== true) await openOnce(program, location, parsed, options)
  return moved === undefined ? { kind: 'ready_when_opened' } : { ...moved, steps: [] }
}

async function migrateLevel(
  { levels, clock }: Program,
  location: StoreLocation,
  { valkey = {}, postgres = {}, dryRun: isDryRun = false, runtime = systemRuntime() }: MigrateStoreOptions,
): Promise<LevelMigration | undefined> {
  const now = clock === 'runtime' ? () => runtime.now() : undefined
  switch (location.kind) {
    case 'memory':
    case 'remote':
      return undefined
    case 'sqlite': {
      const { raiseFileLevel } = await loadSqlite(() => import('../sqlite/file/file-level.ts'))
      return await raiseFileLevel(location.file, runtime, levels, isDryRun)
    }
    case 'postgres': {
      const { raiseDatabaseLevel } = await import('../postgres/schema/postgres-level.ts')
      return await raiseDatabaseLevel(location, postgres, levels, { isDryRun, now })
    }
    case 'valkey': {
      const { raiseServerLevel } = await import('../valkey/boot/valkey-level.ts')
      return await raiseServerLevel(location, valkey, levels, { runtime, isDryRun, now })
    }
  }
}

async function migrateValkey(
  location: ValkeyLocation,
  levels: Levels,
  { valkey = {}, dryRun = false, force = false, runtime = systemRuntime(), ...rest }: MigrateStoreOptions,
): Promise<LayoutMigration | undefined> {
  checkValkeyOptions(valkey, location)
  const { migrateLayout } = await import('../valkey/migration/migrate-layout.ts')
  const { onProgress, signal, log } = rest
  return await migrateLayout(location, valkey, {
    runtime,
    levels,
    isDryRun: dryRun,
    isForced: force,
    onProgress,
    signal,
    log,
  })
}

async function migratePostgres(
  location: PostgresLocation,
  { postgres = {}, dryRun = false }: MigrateStoreOptions,
): Promise<PlaceMigration> {
  checkPostgresOptions(postgres, location)
  const { migrateDatabase } = await import('../postgres/schema/migrate-database.ts')
  const settings = { ...postgres, requestTimeoutMs: postgres.requestTimeoutMs ?? STEP_TIMEOUT_MS }
  const plan = await migrateDatabase(location, settings, { isDryRun: dryRun })
  const kind = plan.steps.length === 0 ? 'up_to_date' : dryRun ? 'pending' : 'migrated'
  return { kind, ...plan }
}

/** A file is brought up to date, and a Valkey server given the function library of this version. */
async function openOnce(
  program: Program,
  location: string,
  { kind }: StoreLocation,
  options: MigrateStoreOptions,
): Promise<void> {
  const { runtime = systemRuntime(), valkey } = options
  const store = await openStore(location, { runtime, ...program, valkey, create: kind === 'memory' })
  await store.close()
}
