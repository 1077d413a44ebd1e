/** The settings of a file: written at first use, then verified. */
import { DATA_VERSION } from '../../../kernel/index.ts'
import { EngineError } from '../../../kernel/engine-error.ts'
import { refuseOtherLevel } from '../../level/store-level.ts'
import type { Levels } from '../../level/store-level.ts'
import type { StoreSettings } from '../../store.ts'
import type { Connection } from '../connection/connection.ts'
import { migrations } from './migrations.ts'
import { invalidFile } from '../connection/sqlite-error.ts'

/** A file has one writer at a time, so more partitions would gain nothing. */
const EXECUTION_PARTITIONS = 1
const LIMIT_PARTITIONS = 1

/** The application_id of a store: the letters "FFab". */
const APPLICATION_ID = 0x46466162

export const SCHEMA_VERSION = migrations.length

export interface WantedSettings {
  /** Left out, those of the file. */
  readonly indexedTags: readonly string[] | undefined
  /** The levels that the program can run. */
  readonly levels: Levels
}

/** Whether a file must be set up or migrated. Refuses a file of another program or of a newer version. */
export function needsSetup(connection: Connection, file: string): boolean {
  const version = findVersion(connection, file)
  refuseNewer(file, 'schema', version, SCHEMA_VERSION)
  return version < SCHEMA_VERSION
}

/** Migrates the tables and writes the settings of a new file, in the caller's transaction. */
export function setUp(connection: Connection, file: string, wanted: WantedSettings): void {
  const version = findVersion(connection, file)
  refuseNewer(file, 'schema', version, SCHEMA_VERSION)
  for (const step of migrations.slice(version)) connection.execute(step)
  if (version === 0) {
    connection.execute(`pragma application_id = ${APPLICATION_ID}`)
    writeMeta(connection, 'data_version', DATA_VERSION)
    writeMeta(connection, 'level', wanted.levels.max)
    writeMeta(connection, 'execution_partitions', EXECUTION_PARTITIONS)
    writeMeta(connection, 'limit_partitions', LIMIT_PARTITIONS)
    writeMeta(connection, 'indexed_tags', sorted(wanted.indexedTags ?? []))
  }
  writeMeta(connection, 'schema_version', SCHEMA_VERSION)
}

/** Returns the settings of a file. Throws an error with both values if they differ from the wanted ones. */
export function verifiedSettings(connection: Connection, file: string, wanted: WantedSettings): StoreSettings {
  const dataVersion = readMeta(connection, 'data_version')
  if (typeof dataVersion === 'number') refuseNewer(file, 'data', dataVersion, DATA_VERSION)
  refuseOther(file, 'data version', dataVersion, DATA_VERSION)
  refuseOtherLevel(readMeta(connection, 'level'), wanted.levels)
  refuseOther(
    file,
    'number of execution partitions',
    readMeta(connection, 'execution_partitions'),
    EXECUTION_PARTITIONS,
  )
  const indexedTags = readMeta(connection, 'indexed_tags') as string[]
  if (wanted.indexedTags !== undefined) refuseOther(file, 'indexed tags', indexedTags, sorted(wanted.indexedTags))
  return { executionPartitions: EXECUTION_PARTITIONS, limitPartitions: limitPartitionsOf(connection), indexedTags }
}

/** A file that was set up before there were limits has no such setting. */
function limitPartitionsOf(connection: Connection): number {
  return (readMeta(connection, 'limit_partitions') as number | undefined) ?? LIMIT_PARTITIONS
}

/** Returns the number of steps that a file has run: 0 for an empty one. */
export function findVersion(connection: Connection, file: string): number {
  // In this order: another process may create the tables and the mark, in one step, between these two reads.
  if (connection.value('select count(*) from sqlite_schema') === 0) return 0
  if (connection.value('pragma application_id') === APPLICATION_ID) {
    return readMeta(connection, 'schema_version') as number
  }
  throw invalidFile(`${file} is a database of another program: name a file of its own.`)
}

function refuseNewer(file: string, what: 'schema' | 'data', found: number, known: number): void {
  if (found <= known) return
  throw new EngineError('newer_schema', {
    message: `${file} has ${what} version ${found}, this program knows ${what} version ${known}.`,
  })
}

function refuseOther(file: string, what: string, found: unknown, wanted: unknown): void {
  const [foundText, wantedText] = [JSON.stringify(found), JSON.stringify(wanted)]
  if (foundText === wantedText) return
  throw new EngineError('configuration_mismatch', {
    field: what,
    message: `${file} was set up with ${what} ${foundText}, this program asks for ${wantedText}.`,
  })
}

function sorted(names: readonly string[]): string[] {
  return [...new Set(names)].sort()
}

export function readMeta(connection: Connection, name: string): unknown {
  const row = connection.prepare('select value from meta where name = ?').get(name)
  return row === undefined ? undefined : JSON.parse(String(row['value']))
}

function writeMeta(connection: Connection, name: string, value: unknown): void {
  connection
    .prepare('insert into meta (name, value) values (?, ?) on conflict (name) do update set value = excluded.value')
    .run(name, JSON.stringify(value))
}
