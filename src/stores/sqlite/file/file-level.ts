/** The level of a file, and the processes that have the file open. */
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Runtime } from '../../../runtime/index.ts'
import { FORGET_MAX, LAPSES_AFTER_MS, PROCESSES_MAX, processOf } from '../../level/level-place.ts'
import type { LevelPlace, ProcessInfo } from '../../level/level-place.ts'
import { raiseLevel } from '../../level/raise-level.ts'
import type { LevelMigration } from '../../level/raise-level.ts'
import { storedLevel } from '../../level/store-level.ts'
import type { Levels } from '../../level/store-level.ts'
import { Connection } from '../connection/connection.ts'
import { needsSetup, readMeta } from './file-settings.ts'
import { failureInUse } from '../connection/sqlite-error.ts'
import { retryWhileBusy } from '../connection/transactions.ts'

const ANNOUNCE = `insert into process (id, host, pid, version, level_min, level_max, announced_at)
  values (?, ?, ?, ?, ?, ?, ?) on conflict (id) do update set announced_at = excluded.announced_at`
const FORGET = `delete from process where id in (
  select id from process where announced_at < ? order by id limit ${FORGET_MAX})`
const LIVE = `select id, host, pid, version, level_min, level_max from process where announced_at >= ?
  order by host, pid, id limit ${PROCESSES_MAX}`
const RAISE = `insert into meta (name, value) values ('level', ?)
  on conflict (name) do update set value = excluded.value
  where cast(meta.value as integer) < cast(excluded.value as integer)`

export class FileLevel implements LevelPlace {
  readonly #runtime: Runtime
  readonly #connection: Connection

  constructor(runtime: Runtime, connection: Connection) {
    this.#runtime = runtime
    this.#connection = connection
  }

  readLevel(): Promise<number> {
    return retryWhileBusy(this.#runtime, () => storedLevel(readMeta(this.#connection, 'level')))
  }

  announce({ processId, host, pid, version, levelMin, levelMax }: ProcessInfo): Promise<void> {
    return retryWhileBusy(this.#runtime, () => {
      const now = this.#runtime.now()
      this.#connection.prepare(ANNOUNCE).run(processId, host, pid, version, levelMin, levelMax, now)
      this.#connection.prepare(FORGET).run(now - LAPSES_AFTER_MS)
    })
  }

  /** Does not wait for a busy file: the announcement lapses. */
  async withdraw({ processId }: ProcessInfo): Promise<void> {
    this.#connection.prepare('delete from process where id = ?').run(processId)
  }

  liveProcesses(): Promise<ProcessInfo[]> {
    return retryWhileBusy(this.#runtime, () => {
      const rows = this.#connection.prepare(LIVE).all(this.#runtime.now() - LAPSES_AFTER_MS)
      return rows.map(processOf)
    })
  }

  raise(to: number): Promise<void> {
    return retryWhileBusy(this.#runtime, () => void this.#connection.prepare(RAISE).run(String(to)))
  }
}

/** Returns undefined for a file that does not exist or whose tables are not up to date. */
export async function raiseFileLevel(
  file: string,
  runtime: Runtime,
  levels: Levels,
  isDryRun: boolean,
): Promise<LevelMigration | undefined> {
  const path = resolve(file)
  if (!existsSync(path)) return undefined
  const connection = new Connection(path)
  try {
    if (await retryWhileBusy(runtime, () => needsSetup(connection, path))) return undefined
    return await raiseLevel(new FileLevel(runtime, connection), levels, isDryRun)
  } catch (error) {
    throw failureInUse(path, error)
  } finally {
    connection.close()
  }
}
