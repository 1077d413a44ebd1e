/**
 * Moves a store from layout 3 to layout 4 while no program uses it.
 *
 * The settings are first marked as migrating, so that programs of either version are refused. Then every key of the old
 * layout is moved. A record is rewritten and its old key removed in one atomic step, indexes and blobs are renamed, and events
 * move from the old list to the new one. When no old key is left, the mark is removed. The remaining work is always what still
 * has an old key, so an interrupted migration resumes where it ended.
 */
import { DATA_VERSION, entriesOf } from '../../../kernel/index.ts'
import type { RecordType } from '../../../kernel/index.ts'
import { silentLog, versionGenerator } from '../../../runtime/index.ts'
import type { Log, Runtime } from '../../../runtime/index.ts'
import { EngineError } from '../../../kernel/engine-error.ts'
import type { Levels } from '../../level/store-level.ts'
import { Connection } from '../connection/connection.ts'
import type { Argument } from '../connection/connection.ts'
import type { ConnectionSettings } from '../options/connection-settings.ts'
import { Keys } from '../layout/keys.ts'
import { MAYBE_RUNNING_MS, announcementsOn } from '../library/library-register.ts'
import { checkDatabase, checkServers } from '../boot/server-check.ts'
import { readSettings, refuseNewer, replaceSettings, storeNotFound } from '../boot/settings.ts'
import type { StoredSettings } from '../boot/settings.ts'
import { functionLibrary } from '../library/library.ts'
import { LAYOUT_VERSION, TIME_BYTES, eventValue, recordValue } from '../layout/stored-value.ts'
import { storedForm } from '../layout/stored-form.ts'
import { asEngineError } from '../connection/valkey-error.ts'
import type { ValkeyLocation } from '../options/valkey-location.ts'
import { ABSENT } from '../layout/value-tags.ts'
import { MOVE_EVENTS, MOVE_KEYS } from './move-scripts.ts'
import { walkOldKeys } from './old-keys.ts'
import type { OldKey } from './old-keys.ts'
import { OLD_LAYOUT_VERSION, readOldEvent, readOldRecord } from './old-layout.ts'

/** Keys and events that one step moves at most, so that no step holds up the server. */
const KEYS_PER_STEP = 100
const EVENTS_PER_STEP = 500
/** Walks over all keys. Two are enough unless a cluster moves slots meanwhile, or a program keeps writing. */
const WALKS_MAX = 10
const HOUR_MS = 3_600_000

/** What a migration has moved or would move. */
export interface MovedCounts {
  readonly records: number
  readonly indexes: number
  readonly blobs: number
  readonly events: number
  /** Records and events that could not be read. They were moved as they are, and reading them fails as before. */
  readonly damaged: number
}

export interface LayoutMigration {
  readonly kind: 'migrated' | 'pending'
  readonly from: number
  readonly to: number
  readonly counts: MovedCounts
}

export interface MigrateLayoutOptions {
  readonly runtime: Runtime
  /** The levels that the program can run. */
  readonly levels: Levels
  /** Count only, and change nothing. */
  readonly isDryRun: boolean
  /** Migrate although a program of another version may be running. */
  readonly isForced: boolean
  /** Called after each step with the counts moved so far and the total at the start. */
  readonly onProgress?: ((moved: MovedCounts, total: MovedCounts) => void) | undefined
  /** Ends the migration between two steps. */
  readonly signal?: AbortSignal | undefined
  readonly log?: Log | undefined
}

/** Migrates a store. Returns undefined if its layout is that of this program already. Idempotent, also after an abort. */
export async function migrateLayout(
  location: ValkeyLocation,
  connectionSettings: ConnectionSettings,
  options: MigrateLayoutOptions,
): Promise<LayoutMigration | undefined> {
  const connection = await Connection.open(location, connectionSettings, options.runtime)
  try {
    await checkServers(connection)
    await checkDatabase(connection, location.database)
    return await new Migration(location, connectionSettings, connection, options).run()
  } catch (error) {
    throw asEngineError(error)
  } finally {
    connection.close()
  }
}

type Counts = { -readonly [Name in keyof MovedCounts]: number }

class Migration {
  readonly #location: ValkeyLocation
  readonly #connectionSettings: ConnectionSettings
  readonly #connection: Connection
  readonly #options: MigrateLayoutOptions
  readonly #log: Log
  readonly #keys: Keys
  readonly #version = versionGenerator()
  readonly #moved: Counts = { records: 0, indexes: 0, blobs: 0, events: 0, damaged: 0 }
  #total: MovedCounts = this.#moved

  constructor(
    location: ValkeyLocation,
    connectionSettings: ConnectionSettings,
    connection: Connection,
    options: MigrateLayoutOptions,
  ) {
    this.#location = location
    this.#connectionSettings = connectionSettings
    this.#connection = connection
    this.#options = options
    this.#log = options.log ?? silentLog
    this.#keys = new Keys(location.prefix, location.database)
  }

  async run(): Promise<LayoutMigration | undefined> {
    const found = await readSettings(this.#connection, this.#keys)
    const { isDryRun, isForced } = this.#options
    if (found === undefined) {
      if (isDryRun) return undefined
      throw storeNotFound()
    }
    const { settings } = found
    const from = layoutToLeave(settings)
    if (from === LAYOUT_VERSION) return undefined
    if (isDryRun) return { kind: 'pending', from, to: LAYOUT_VERSION, counts: await this.#count() }
    let { text } = found
    // An interrupted migration is not held up: it was allowed when it began, and a store that is half moved cannot be used.
    if (settings.migratingFrom === undefined) {
      if (!isForced) await this.#refuseOtherPrograms()
      const marked = JSON.stringify({ ...settings, layoutVersion: LAYOUT_VERSION, migratingFrom: from })
      if (!(await replaceSettings(this.#connection, this.#keys, text, marked))) return await this.run()
      text = marked
    }
    this.#total = await this.#count()
    await this.#moveAll()
    const done = JSON.stringify({ ...settings, layoutVersion: LAYOUT_VERSION, migratingFrom: undefined })
    // If another process has finished the same migration, there is nothing left to do.
    if (!(await replaceSettings(this.#connection, this.#keys, text, done))) return await this.run()
    return { kind: 'migrated', from, to: LAYOUT_VERSION, counts: this.#moved }
  }

  async #refuseOtherPrograms(): Promise<void> {
    const { name } = await functionLibrary(this.#options.levels.max)
    const [announcedAt, now] = await this.#announcements()
    for (const [library, at] of announcedAt) {
      if (library === name || now - at > MAYBE_RUNNING_MS) continue
      const hours = Math.max(0, (now - at) / HOUR_MS).toFixed(1)
      throw new EngineError('store_in_use', {
        message:
          `A program of another version (function library ${library}) announced itself on this server ${hours} h ago and may still be running. ` +
          'A program that writes during the migration loses its work. Stop every program that uses the store, ' +
          `then run the command with --force, or without it ${MAYBE_RUNNING_MS / HOUR_MS} h after the last announcement.`,
      })
    }
  }

  /** The register stands in database 0, whichever the store uses. */
  async #announcements(): Promise<[Map<string, number>, number]> {
    const { database } = this.#location
    const isOwn = database === 0
    const connection = isOwn
      ? this.#connection
      : await Connection.open({ ...this.#location, database: 0 }, this.#connectionSettings, this.#options.runtime)
    try {
      const [seconds] = (await connection.send('TIME')) as string[]
      return [await announcementsOn(connection), Number(seconds) * 1_000]
    } finally {
      if (!isOwn) connection.close()
    }
  }

  async #count(): Promise<MovedCounts> {
    const counts = { records: 0, indexes: 0, blobs: 0, events: 0, damaged: 0 }
    for await (const page of walkOldKeys(this.#connection, this.#location.prefix)) {
      this.#endIfAborted()
      for (const { kind, oldKey } of [...page.values()].flat()) {
        if (kind === 'events') counts.events += Number(await this.#connection.send('LLEN', oldKey))
        else if (kind !== 'trimmed') counts[countOf(kind)]++
      }
    }
    return counts
  }

  async #moveAll(): Promise<void> {
    for (let walk = 0; walk < WALKS_MAX; walk++) {
      let isClean = true
      for await (const page of walkOldKeys(this.#connection, this.#location.prefix)) {
        isClean = false
        await Promise.all([...page.values()].map((keys) => this.#moveKeysOf(keys)))
      }
      if (isClean) return
    }
    throw new EngineError('store_in_use', {
      message:
        'Keys of the previous layout keep appearing: a program of the previous version is still running. ' +
        'Stop it, then run the command again.',
    })
  }

  /** Moves keys of one partition. */
  async #moveKeysOf(keys: readonly OldKey[]): Promise<void> {
    const logs = keys.filter(({ kind }) => kind === 'events')
    const others = keys.filter(({ kind }) => kind !== 'events')
    for (const log of logs) await this.#moveEvents(log)
    for (let at = 0; at < others.length; at += KEYS_PER_STEP) {
      await this.#moveBatch(others.slice(at, at + KEYS_PER_STEP))
    }
  }

  async #moveBatch(batch: readonly OldKey[]): Promise<void> {
    this.#endIfAborted()
    const records = batch.filter(({ kind }) => isRecord(kind))
    const values = await this.#valuesOf(records)
    const version = this.#version()
    const damaged = new Set<OldKey>()
    const args = batch.flatMap((key): Argument[] => {
      const value = values.get(key.oldKey)
      if (value === undefined) return [key.kind === 'trimmed' ? 'keep' : 'rename', '']
      const moved = newRecordValue(key.kind as RecordType, value, version)
      if (moved === undefined) damaged.add(key)
      return [value, moved ?? damagedValue(Buffer.from(`${version}\0`, 'latin1'), value)]
    })
    const names = batch.flatMap(({ oldKey, newKey }) => [oldKey, newKey])
    const reply = await this.#connection.sendForBytes('EVAL', MOVE_KEYS, names.length, ...names, ...args)
    const moved = reply as number[]
    batch.forEach((key, i) => {
      if (moved[i] !== 1 || key.kind === 'trimmed' || key.kind === 'events') return
      this.#moved[countOf(key.kind)]++
      if (damaged.has(key)) this.#noteDamage(key.oldKey)
    })
    this.#tellProgress()
  }

  /** The values of records by their keys, without those that are gone and those of another type. */
  async #valuesOf(records: readonly OldKey[]): Promise<Map<string, Buffer>> {
    const found = new Map<string, Buffer>()
    if (records.length === 0) return found
    const names = records.map(({ oldKey }) => oldKey)
    const values = (await this.#connection.sendForBytes('MGET', ...names)) as (Buffer | null)[]
    names.forEach((name, i) => {
      const value = values[i]
      if (value !== null && value !== undefined) found.set(name, value)
    })
    return found
  }

  /** Moves events from the head of the old list to the end of the new one, so that their numbers stay the same. */
  async #moveEvents({ oldKey, newKey }: OldKey): Promise<void> {
    const connection = this.#connection
    const newest = (await connection.sendForBytes('LINDEX', newKey, -1)) as Buffer | null
    let at = newest === null ? 0 : newest.readUIntLE(0, TIME_BYTES)
    for (;;) {
      this.#endIfAborted()
      const count = Number(await connection.send('LLEN', newKey))
      const old = (await connection.sendForBytes('LRANGE', oldKey, 0, EVENTS_PER_STEP - 1)) as Buffer[]
      const [first] = old
      if (first === undefined) return
      let damagedCount = 0
      const events = old.map((bytes) => {
        const event = readOldEvent(bytes)
        if (event === undefined) damagedCount++
        at = event?.at ?? at
        return event === undefined ? damagedValue(timeBytes(at), bytes) : eventValue(at, event, storedForm)
      })
      const args = [oldKey, newKey, first, count, ...events]
      const moved = Number(await connection.sendForBytes('EVAL', MOVE_EVENTS, 2, ...args))
      if (moved === 0) return
      this.#moved.events += moved
      for (let i = 0; i < damagedCount; i++) this.#noteDamage(oldKey)
      this.#tellProgress()
    }
  }

  #noteDamage(key: string): void {
    this.#moved.damaged++
    this.#log.warn({ store: 'valkey', key }, 'a stored value could not be read; it was moved as it is')
  }

  #tellProgress(): void {
    this.#options.onProgress?.({ ...this.#moved }, this.#total)
  }

  #endIfAborted(): void {
    if (this.#options.signal?.aborted === true) throw new EngineError('aborted')
  }
}

/** The layout that the store has, or had before a migration that is not finished. Refuses one that this program cannot move. */
function layoutToLeave({ dataVersion, layoutVersion, migratingFrom }: StoredSettings): number {
  refuseNewer('data version', dataVersion, DATA_VERSION)
  refuseNewer('layout version', layoutVersion, LAYOUT_VERSION)
  const from = migratingFrom ?? layoutVersion
  if (from === OLD_LAYOUT_VERSION || from === LAYOUT_VERSION) return from
  throw new EngineError('older_schema', {
    message:
      `The store has layout version ${from}; this program migrates from layout version ${OLD_LAYOUT_VERSION} only. ` +
      'Let its work end with the version that wrote it, and begin a new store.',
  })
}

function isRecord(kind: OldKey['kind']): kind is RecordType {
  return kind !== 'index' && kind !== 'blob' && kind !== 'events' && kind !== 'trimmed'
}

function countOf(kind: Exclude<OldKey['kind'], 'events' | 'trimmed'>): 'records' | 'indexes' | 'blobs' {
  if (kind === 'index') return 'indexes'
  return kind === 'blob' ? 'blobs' : 'records'
}

/** Returns undefined if the value cannot be read as a record. */
function newRecordValue(type: RecordType, value: Buffer, version: string): Buffer | undefined {
  const record = readOldRecord(type, value)
  if (record === undefined) return undefined
  try {
    entriesOf(record)
    return recordValue(version, record, storedForm)
  } catch {
    // A record whose entries cannot be derived, or with values that no record has, was damaged outside.
    return undefined
  }
}

/** A value that cannot be read in the new layout either: no record and no event begins with an absent value. */
function damagedValue(head: Buffer, value: Buffer): Buffer {
  return Buffer.concat([head, Buffer.of(ABSENT), value])
}

function timeBytes(at: number): Buffer {
  const bytes = Buffer.alloc(TIME_BYTES)
  bytes.writeUIntLE(at, 0, TIME_BYTES)
  return bytes
}
