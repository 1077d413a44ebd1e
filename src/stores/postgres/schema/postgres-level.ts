/** The level of a store, and the processes that use it. */
import { FORGET_MAX, LAPSES_AFTER_MS, PROCESSES_MAX, processOf } from '../../level/level-place.ts'
import type { LevelPlace, ProcessInfo } from '../../level/level-place.ts'
import { raiseLevel } from '../../level/raise-level.ts'
import type { LevelMigration } from '../../level/raise-level.ts'
import { storedLevel } from '../../level/store-level.ts'
import type { Levels } from '../../level/store-level.ts'
import { Connection } from '../wire/connection.ts'
import type { ConnectionSettings } from '../options/postgres-options.ts'
import { readMeta, schemaState, underLock } from './migrate.ts'
import { quoted } from '../wire/session.ts'
import type { Session } from '../wire/session.ts'
import { migrations } from './migrations.ts'
import { asEngineError } from '../wire/postgres-error.ts'
import type { PostgresLocation } from '../options/postgres-location.ts'

/** Runs work on a connection. */
type Use = <T>(work: (session: Session) => Promise<T>) => Promise<T>

/** The given time, or else that of the server. */
const NOW = 'coalesce($1::bigint, floor(extract(epoch from clock_timestamp()) * 1000)::bigint)'

export class PostgresLevel implements LevelPlace {
  readonly #use: Use
  readonly #schema: string
  readonly #table: string
  readonly #now: (() => number) | undefined

  /** `now` returns the time of the store; undefined uses the clock of the server. */
  constructor(use: Use, schema: string, now?: () => number) {
    this.#use = use
    this.#schema = schema
    this.#table = `${quoted(schema)}.process`
    this.#now = now
  }

  readLevel(): Promise<number | undefined> {
    return this.#use(async (session) => {
      const meta = await readMeta(session, this.#schema)
      return meta.has('data_version') ? storedLevel(meta.get('level')) : undefined
    })
  }

  announce({ processId, host, pid, version, levelMin, levelMax }: ProcessInfo): Promise<void> {
    const now = this.#now?.() ?? null
    return this.#use(async (session) => {
      await session.query(
        `insert into ${this.#table} as p (announced_at, id, host, pid, version, level_min, level_max)
          values (${NOW}, $2, $3, $4, $5, $6, $7) on conflict (id) do update set announced_at = excluded.announced_at`,
        [now, processId, host, pid, version, levelMin, levelMax],
      )
      await session.query(
        `delete from ${this.#table} where id in (
          select id from ${this.#table} where announced_at < ${NOW} - $2::bigint order by id limit ${FORGET_MAX}
          for update skip locked)`,
        [now, LAPSES_AFTER_MS],
      )
    })
  }

  async withdraw({ processId }: ProcessInfo): Promise<void> {
    await this.#use((session) => session.query(`delete from ${this.#table} where id = $1`, [processId]))
  }

  async liveProcesses(): Promise<ProcessInfo[]> {
    const rows = await this.#use((session) =>
      session.query(
        `select id, host, pid, version, level_min, level_max from ${this.#table}
          where announced_at >= ${NOW} - $2::bigint order by host, pid, id limit ${PROCESSES_MAX}`,
        [this.#now?.() ?? null, LAPSES_AFTER_MS],
      ),
    )
    return rows.map(processOf)
  }

  /** Holds the locks of all partitions, so that transactions which have read the previous level have ended. */
  async raise(to: number): Promise<void> {
    const schema = quoted(this.#schema)
    await this.#use((session) =>
      underLock(session, this.#schema, async () => {
        await session.query(
          `select pg_advisory_xact_lock((select value::integer from ${schema}.meta where name = 'lock_space'), p.number)
            from (select number from ${schema}.partition order by number) p`,
        )
        await session.query(
          `insert into ${schema}.meta as m (name, value) values ('level', $1)
            on conflict (name) do update set value = excluded.value where m.value::integer < excluded.value::integer`,
          [String(to)],
        )
      }),
    )
  }
}

/** Returns undefined for a store that was never used or whose tables are not up to date. */
export async function raiseDatabaseLevel(
  location: PostgresLocation,
  settings: ConnectionSettings,
  levels: Levels,
  options: { readonly isDryRun: boolean; readonly now: (() => number) | undefined },
): Promise<LevelMigration | undefined> {
  const connection = await Connection.open(location, settings)
  try {
    const { version } = await schemaState(connection, location.schema)
    if (version !== migrations.length) return undefined
    const place = new PostgresLevel((work) => work(connection), location.schema, options.now)
    return await raiseLevel(place, levels, options.isDryRun)
  } catch (error) {
    throw asEngineError(error)
  } finally {
    connection.close()
  }
}
