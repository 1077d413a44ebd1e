/** One connection to a SQLite file, with its prepared statements. */
import { DatabaseSync } from 'node:sqlite'
import type { StatementSync } from 'node:sqlite'

export class Connection {
  readonly #database: DatabaseSync
  readonly #statements = new Map<string, StatementSync>()

  constructor(file: string) {
    this.#database = new DatabaseSync(file)
    // SQLite must not wait for a lock itself, since it would block the event loop.
    this.execute('pragma busy_timeout = 0')
  }

  /** Returns the same statement for the same text while the connection is open. */
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

  /** Returns the only value of a query. */
  value(sql: string): unknown {
    return Object.values(this.#database.prepare(sql).get() ?? {})[0]
  }

  close(): void {
    this.#statements.clear()
    this.#database.close()
  }
}
