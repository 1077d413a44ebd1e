/**
 * The level of a store, and the processes that use it.
 *
 * The settings hold the level. Every partition holds it too, in the count of trimmed events, which each commit reads: so a
 * commit of a program that cannot run the level is refused without a further read. The partitions are raised before the
 * settings. A process reads the level from the settings alone, so nothing of a new level is written while a commit of an
 * older program could still be applied.
 */
import type { Runtime } from '../../../runtime/index.ts'
import { EngineError } from '../../../kernel/engine-error.ts'
import { FORGET_MAX, LAPSES_AFTER_MS, PROCESSES_MAX } from '../../level/level-place.ts'
import type { LevelPlace, ProcessInfo } from '../../level/level-place.ts'
import { raiseLevel } from '../../level/raise-level.ts'
import type { LevelMigration } from '../../level/raise-level.ts'
import { storedLevel } from '../../level/store-level.ts'
import type { Levels } from '../../level/store-level.ts'
import { allPartitions } from '../../partitions.ts'
import { Connection } from '../connection/connection.ts'
import type { ConnectionSettings } from '../options/connection-settings.ts'
import { Keys, LEVEL_STEP } from '../layout/keys.ts'
import { LAYOUT_VERSION } from '../layout/stored-value.ts'
import { limitPartitionsOf, readSettings, replaceSettings, storeNotFound } from './settings.ts'
import { asEngineError } from '../connection/valkey-error.ts'
import type { ValkeyLocation } from '../options/valkey-location.ts'

/** Concurrent processes change the settings once each. */
const CHANGE_TRIES = 10

/** KEYS: the count of trimmed events of a partition. ARGV: the level, what a level adds to the count. Never lowers a level. */
const RAISE_PARTITION = `
local mark, step = tonumber(redis.call('GET', KEYS[1]) or 0), tonumber(ARGV[2])
local raised = (ARGV[1] - 1) * step + mark % step
if raised > mark then redis.call('SET', KEYS[1], string.format('%.0f', raised)) end`

export class ValkeyLevel implements LevelPlace {
  readonly #connection: Connection
  readonly #keys: Keys
  readonly #now: (() => number) | undefined

  /** `now` is the clock in use; undefined for the server's. */
  constructor(connection: Connection, keys: Keys, now?: () => number) {
    this.#connection = connection
    this.#keys = keys
    this.#now = now
  }

  async readLevel(): Promise<number | undefined> {
    const found = await readSettings(this.#connection, this.#keys)
    return found === undefined ? undefined : storedLevel(found.settings.level)
  }

  async announce(process: ProcessInfo): Promise<void> {
    const { processes } = this.#keys
    const now = await this.#time()
    await this.#connection.send('ZADD', processes, now, JSON.stringify(process))
    const range = ['-inf', `(${now - LAPSES_AFTER_MS}`, 'BYSCORE', 'LIMIT', 0, FORGET_MAX]
    const lapsed = (await this.#connection.send('ZRANGE', processes, ...range)) as string[]
    if (lapsed.length > 0) await this.#connection.send('ZREM', processes, ...lapsed)
  }

  async withdraw(process: ProcessInfo): Promise<void> {
    await this.#connection.send('ZREM', this.#keys.processes, JSON.stringify(process))
  }

  async liveProcesses(): Promise<ProcessInfo[]> {
    const range = [(await this.#time()) - LAPSES_AFTER_MS, '+inf', 'BYSCORE', 'LIMIT', 0, PROCESSES_MAX]
    const texts = (await this.#connection.send('ZRANGE', this.#keys.processes, ...range)) as string[]
    return texts.sort().map((text) => JSON.parse(text) as ProcessInfo)
  }

  async raise(to: number): Promise<void> {
    const found = await readSettings(this.#connection, this.#keys)
    if (found === undefined) throw storeNotFound()
    const limitPartitions = limitPartitionsOf(found.settings)
    for (const partition of allPartitions({ ...found.settings, limitPartitions })) {
      const key = this.#keys.trimmed(partition)
      await this.#connection.send('EVAL', RAISE_PARTITION, 1, key, to, LEVEL_STEP)
    }
    for (let tries = 0; tries < CHANGE_TRIES; tries++) if (await this.#raiseSettings(to)) return
    throw new EngineError('store_unavailable', {
      message: 'Other processes keep changing the settings of the store. Try again.',
    })
  }

  /** Returns false if another process changed the settings meanwhile. */
  async #raiseSettings(to: number): Promise<boolean> {
    const found = await readSettings(this.#connection, this.#keys)
    if (found === undefined) throw storeNotFound()
    const { text, settings } = found
    if (storedLevel(settings.level) >= to) return true
    return await replaceSettings(this.#connection, this.#keys, text, JSON.stringify({ ...settings, level: to }))
  }

  async #time(): Promise<number> {
    if (this.#now !== undefined) return this.#now()
    const [seconds] = (await this.#connection.send('TIME')) as string[]
    return Number(seconds) * 1_000
  }
}

/** Returns undefined for a store that was never used or whose layout is not that of this program. */
export async function raiseServerLevel(
  location: ValkeyLocation,
  connectionSettings: ConnectionSettings,
  levels: Levels,
  options: { readonly runtime: Runtime; readonly isDryRun: boolean; readonly now: (() => number) | undefined },
): Promise<LevelMigration | undefined> {
  const connection = await Connection.open(location, connectionSettings, options.runtime)
  try {
    const keys = new Keys(location.prefix, location.database)
    const found = await readSettings(connection, keys)
    if (found?.settings.layoutVersion !== LAYOUT_VERSION || found.settings.migratingFrom !== undefined) return undefined
    return await raiseLevel(new ValkeyLevel(connection, keys, options.now), levels, options.isDryRun)
  } catch (error) {
    throw asEngineError(error)
  } finally {
    connection.close()
  }
}
