/** Statements that write rows, with the record at fault named should the table refuse one. */
import type { SQLInputValue, StatementSync } from 'node:sqlite'
import type { Connection } from '../connection/connection.ts'
import { isRefusedRow } from '../connection/sqlite-error.ts'

/** A table's own rules forbid a row: the operation that made it is at fault, not the store. */
export class RefusedRow extends Error {
  override readonly name = 'RefusedRow'
  readonly recordId: string

  constructor(recordId: string, cause: Error) {
    super(cause.message, { cause })
    this.recordId = recordId
  }
}

/** Runs a statement and says how many rows it changed. */
export function writeRow(recordId: string, statement: StatementSync, values: readonly SQLInputValue[]): number {
  try {
    return Number(statement.run(...values).changes)
  } catch (error) {
    throw isRefusedRow(error) ? new RefusedRow(recordId, error) : error
  }
}

/** Rows that one statement takes. Together they spend a quarter less time each; what is left over goes one by one. */
const ROWS_AT_ONCE = 8

export class RowInserts {
  readonly #width: number
  readonly #one: StatementSync
  readonly #many: StatementSync

  /** `into` is a statement up to its values, as in `insert into queue (id, lane)`. */
  constructor(connection: Connection, into: string, width: number) {
    const row = `(${Array.from({ length: width }, () => '?').join(', ')})`
    this.#width = width
    this.#one = connection.prepare(`${into} values ${row}`)
    this.#many = connection.prepare(`${into} values ${Array.from({ length: ROWS_AT_ONCE }, () => row).join(', ')}`)
  }

  /** Takes the values of all rows, one row after the other, and each row's record. Says how many rows are new. */
  insert(recordIds: readonly string[], values: readonly SQLInputValue[]): number {
    let inserted = 0
    let row = 0
    while (row < recordIds.length) {
      const isMany = recordIds.length - row >= ROWS_AT_ONCE
      const end = row + (isMany ? ROWS_AT_ONCE : 1)
      const statement = isMany ? this.#many : this.#one
      inserted += writeRow(recordIds[row] ?? '', statement, values.slice(row * this.#width, end * this.#width))
      row = end
    }
    return inserted
  }
}
