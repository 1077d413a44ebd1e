/** The settings that are fixed at first use: written atomically by the first process, verified by every other. */
import { DATA_VERSION } from '../../../kernel/index.ts'
import { EngineError } from '../../../kernel/engine-error.ts'
import { refuseMismatch, sortedNames } from '../../server/fixed-settings.ts'
import { refuseOtherLevel } from '../../level/store-level.ts'
import type { Levels } from '../../level/store-level.ts'
import { SERVER_LIMIT_PARTITIONS } from '../../partitions.ts'
import type { StoreSettings } from '../../store.ts'
import type { Connection } from '../connection/connection.ts'
import type { Keys } from '../layout/keys.ts'
import { LAYOUT_VERSION } from '../layout/stored-value.ts'
import { refusalWord } from '../connection/valkey-error.ts'

/** Enough for many cores to work in parallel, few enough for cheap scans. */
const STANDALONE_PARTITIONS = 8
/** More, so that they spread over the primaries of a cluster and move one by one. */
const CLUSTER_PARTITIONS = 32

/** KEYS: the settings. ARGV: the expected text, the new text. Returns 1 if it wrote, else 0. */
const CHANGE_SETTINGS = `
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], ARGV[2])
return 1`

/** An undefined setting accepts the stored one. */
export interface WantedSettings {
  readonly executionPartitions: number | undefined
  readonly indexedTags: readonly string[] | undefined
  /** The levels that the program can run. */
  readonly levels: Levels
}

export interface StoredSettings {
  readonly dataVersion: number
  readonly layoutVersion: number
  /** The layout that the store is being moved from, while a migration is under way. */
  readonly migratingFrom?: number
  /** Absent in a store that was set up before there were levels. */
  readonly level?: number
  readonly executionPartitions: number
  /** Absent in a store that was set up before there were limits. */
  readonly limitPartitions?: number
  readonly indexedTags: readonly string[]
}

/** The settings of a store with the level that it had when they were read. */
export interface FoundSettings extends StoreSettings {
  readonly level: unknown
}

/** Returns the settings of the store; undefined if it was never used. Throws if the program wants other settings. */
export async function findSettings(
  connection: Connection,
  keys: Keys,
  wanted: WantedSettings,
): Promise<FoundSettings | undefined> {
  const stored = (await readSettings(connection, keys))?.settings
  if (stored === undefined) return undefined
  refuseNewer('data version', stored.dataVersion, DATA_VERSION)
  refuseMismatch('data version', stored.dataVersion, DATA_VERSION)
  refuseOtherLayout(stored)
  refuseOtherLevel(stored.level, wanted.levels)
  const { executionPartitions, indexedTags, level } = stored
  if (wanted.executionPartitions !== undefined) {
    refuseMismatch('number of execution partitions', executionPartitions, wanted.executionPartitions)
  }
  if (wanted.indexedTags !== undefined) refuseMismatch('indexed tags', indexedTags, sortedNames(wanted.indexedTags))
  return { executionPartitions, limitPartitions: limitPartitionsOf(stored), indexedTags, level }
}

/** Sets the store up. If another process was first, its settings are checked instead. */
export async function setUp(connection: Connection, keys: Keys, wanted: WantedSettings): Promise<FoundSettings> {
  const defaultPartitions = connection.isCluster ? CLUSTER_PARTITIONS : STANDALONE_PARTITIONS
  const first: StoredSettings = {
    dataVersion: DATA_VERSION,
    layoutVersion: LAYOUT_VERSION,
    level: wanted.levels.max,
    executionPartitions: wanted.executionPartitions ?? defaultPartitions,
    limitPartitions: SERVER_LIMIT_PARTITIONS,
    indexedTags: sortedNames(wanted.indexedTags ?? []),
  }
  await connection.send('SET', keys.settings, JSON.stringify(first), 'NX')
  const settings = await findSettings(connection, keys, wanted)
  if (settings === undefined) throw storeNotFound()
  return settings
}

export function limitPartitionsOf({ limitPartitions = SERVER_LIMIT_PARTITIONS }: StoredSettings): number {
  return limitPartitions
}

export function storeNotFound(): EngineError {
  const message = 'There is no store with this prefix and database on the server yet.'
  return new EngineError('store_not_found', { field: 'location', message })
}

/** Reads the settings as they are stored, with their text; undefined if the store was never used. */
export async function readSettings(
  connection: Connection,
  keys: Keys,
): Promise<{ readonly text: string; readonly settings: StoredSettings } | undefined> {
  const text = await read(connection, keys)
  return text === null ? undefined : { text, settings: parse(text, keys) }
}

/** Replaces the settings. Returns false, and writes nothing, if their text is no longer `before`. */
export async function replaceSettings(
  connection: Connection,
  keys: Keys,
  before: string,
  after: string,
): Promise<boolean> {
  return (await connection.send('EVAL', CHANGE_SETTINGS, 1, keys.settings, before, after)) === 1
}

async function read(connection: Connection, keys: Keys): Promise<string | null> {
  try {
    return (await connection.send('GET', keys.settings)) as string | null
  } catch (error) {
    throw refusalWord(error) === 'WRONGTYPE' ? notOurs(keys) : error
  }
}

function parse(text: string, keys: Keys): StoredSettings {
  try {
    const value: unknown = JSON.parse(text)
    if (isStoredSettings(value)) return value
  } catch {
    // Not JSON at all.
  }
  throw notOurs(keys)
}

function isStoredSettings(value: unknown): value is StoredSettings {
  if (typeof value !== 'object' || value === null) return false
  const settings = value as Partial<Record<keyof StoredSettings, unknown>>
  const { limitPartitions = SERVER_LIMIT_PARTITIONS } = settings
  const numbers = [settings.dataVersion, settings.layoutVersion, settings.executionPartitions, limitPartitions]
  if (!numbers.every((number) => Number.isSafeInteger(number) && Number(number) > 0)) return false
  return Array.isArray(settings.indexedTags) && settings.indexedTags.every((name) => typeof name === 'string')
}

function notOurs(keys: Keys): EngineError {
  const message = `The key ${keys.settings} holds something else than a store's settings. If another program uses it, choose another prefix.`
  return new EngineError('corruption', { field: 'location', message })
}

export function refuseNewer(what: string, found: number, known: number): void {
  if (found <= known) return
  throw new EngineError('newer_schema', {
    message: `The store has ${what} ${found}, this program knows ${what} ${known}.`,
  })
}

function refuseOtherLayout({ layoutVersion, migratingFrom }: StoredSettings): void {
  refuseNewer('layout version', layoutVersion, LAYOUT_VERSION)
  if (migratingFrom !== undefined) {
    throw new EngineError('older_schema', {
      message:
        `A migration of the store from layout version ${migratingFrom} to ${layoutVersion} is under way, or was interrupted. ` +
        'Run "flowfabric migrate <location>": it finishes the migration.',
    })
  }
  if (layoutVersion === LAYOUT_VERSION) return
  throw new EngineError('older_schema', {
    message:
      `The store has layout version ${layoutVersion}, this program needs layout version ${LAYOUT_VERSION}. ` +
      'Stop every program that uses the store, then run "flowfabric migrate <location>".',
  })
}
