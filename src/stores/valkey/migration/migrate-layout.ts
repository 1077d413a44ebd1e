/**
 * Moves a store from an older layout to the present one while no program uses it.
 *
 * The settings are first marked as migrating, so that programs of either version are refused. Then every key of an old layout
 * is moved. A record is rewritten and its old key removed in one atomic step, blobs are renamed, and the members of an index
 * and the events move from the old key to the new one. When no old key is left, the mark is removed. The remaining work is
 * always what still has an old key, so an interrupted migration resumes where it ended, also one that an older program began.
 */
import { DATA_VERSION } from '../../../kernel/index.ts'
import { silentLog } from '../../../runtime/index.ts'
import type { Log, Runtime } from '../../../runtime/index.ts'
import { EngineError } from '../../../kernel/engine-error.ts'
import type { Levels } from '../../level/store-level.ts'
import { Connection } from '../connection/connection.ts'
import type { ConnectionSettings } from '../options/connection-settings.ts'
import { Keys } from '../layout/keys.ts'
import { MAYBE_RUNNING_MS, announcementsOn } from '../library/library-register.ts'
import { checkDatabase, checkServers } from '../boot/server-check.ts'
import { readSettings, refuseNewer, replaceSettings, storeNotFound } from '../boot/settings.ts'
import type { StoredSettings } from '../boot/settings.ts'
import { functionLibrary } from '../library/library.ts'
import { LAYOUT_VERSION } from '../layout/stored-value.ts'
import { asEngineError } from '../connection/valkey-error.ts'
import type { ValkeyLocation } from '../options/valkey-location.ts'
import { KeyMover, isRecord } from './key-mover.ts'
import type { MovedCounts } from './key-mover.ts'
import { walkOldKeys } from './old-keys.ts'
import { oldLayouts } from './old-layouts.ts'

/** Walks over all keys. Two are enough unless a cluster moves slots meanwhile, or a program keeps writing. */
const WALKS_MAX = 10
const HOUR_MS = 3_600_000

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

class Migration {
  readonly #location: ValkeyLocation
  readonly #connectionSettings: ConnectionSettings
  readonly #connection: Connection
  readonly #options: MigrateLayoutOptions
  readonly #keys: Keys
  readonly #mover: KeyMover
  #total: MovedCounts

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
    this.#keys = new Keys(location.prefix, location.database)
    this.#mover = new KeyMover(
      connection,
      options.log ?? silentLog,
      () => this.#endIfAborted(),
      () => options.onProgress?.({ ...this.#mover.moved }, this.#total),
    )
    this.#total = this.#mover.moved
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
    if (settings.migratingFrom === undefined || settings.layoutVersion !== LAYOUT_VERSION) {
      if (!isForced && settings.migratingFrom === undefined) await this.#refuseOtherPrograms()
      const marked = JSON.stringify({ ...settings, layoutVersion: LAYOUT_VERSION, migratingFrom: from })
      if (!(await replaceSettings(this.#connection, this.#keys, text, marked))) return await this.run()
      text = marked
    }
    this.#total = await this.#count()
    await this.#moveAll()
    const done = JSON.stringify({ ...settings, layoutVersion: LAYOUT_VERSION, migratingFrom: undefined })
    // If another process has finished the same migration, there is nothing left to do.
    if (!(await replaceSettings(this.#connection, this.#keys, text, done))) return await this.run()
    return { kind: 'migrated', from, to: LAYOUT_VERSION, counts: this.#mover.moved }
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
        else if (kind === 'index') counts.indexes++
        else if (kind === 'blob') counts.blobs++
        else if (isRecord(kind)) counts.records++
      }
    }
    return counts
  }

  async #moveAll(): Promise<void> {
    for (let walk = 0; walk < WALKS_MAX; walk++) {
      let isClean = true
      for await (const page of walkOldKeys(this.#connection, this.#location.prefix)) {
        isClean = false
        await Promise.all([...page.values()].map((keys) => this.#mover.move(keys)))
      }
      if (isClean) return
    }
    throw new EngineError('store_in_use', {
      message:
        'Keys of the previous layout keep appearing: a program of the previous version is still running. ' +
        'Stop it, then run the command again.',
    })
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
  if (from === LAYOUT_VERSION || oldLayouts.some(({ version }) => version === from)) return from
  const known = oldLayouts.map(({ version }) => version).join(' and ')
  throw new EngineError('older_schema', {
    message:
      `The store has layout version ${from}; this program migrates from layout versions ${known} only. ` +
      'Let its work end with the version that wrote it, and begin a new store.',
  })
}
