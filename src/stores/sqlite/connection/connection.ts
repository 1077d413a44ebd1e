/** One connection to a SQLite file, with the statements that were prepared on it. */
import { DatabaseSync } from 'node:sqlite'
import type { StatementSync } from 'node:sqlite'

export class Connection {
  readonly #database: DatabaseSync
  readonly #statements = new Map<string, StatementSync>()

  constructor(file: string) {
    this.#database = new DatabaseSync(file)
    // A lock is never waited for inside SQLite, where nothing else in the process could run.
    this.execute('pragma busy_timeout = 0')
  }

  /** The same text gives the same statement, for as long as the connection is open. */
  prepare(sql: string): StatementSync {
    let statement = this.#statements.get(sql)
    if (statement === undefined) {
      statement = this.#database.prepare(sql)
      this.#statements.set(sql, statement)
    }
    return statement
  }

  execute(sql: string): void {
    this.#database.exec(sql)
  }

  /** The one value that a statement answers with. */
  value(sql: string): unknown {
    return Object.values(this.#database.prepare(sql).get() ?? {})[0]
  }

  close(): void {
    this.#statements.clear()
    this.#database.close()
  }
}
