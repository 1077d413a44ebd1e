/** Runs statements that write rows. A refused row is an error with the id of its record. */
import type { SQLInputValue, StatementSync } from 'node:sqlite'
import type { Connection } from '../connection/connection.ts'
import { isRefusedRow } from '../connection/sqlite-error.ts'

/** A constraint of a table refused a row: the operation is at fault, not the store. */
export class RefusedRow extends Error {
  override readonly name = 'RefusedRow'
  readonly recordId: string

  constructor(recordId: string, cause: Error) {
    super(cause.message, { cause })
    this.recordId = recordId
  }
}

/** Runs a statement and returns the number of changed rows. */
export function writeRow(recordId: string, statement: StatementSync, values: readonly SQLInputValue[]): number {
  try {
    return Number(statement.run(...values).changes)
  } catch (error) {
    throw isRefusedRow(error) ? new RefusedRow(recordId, error) : error
  }
}

/** Rows of one statement. Together they cost a quarter less; the remaining rows are inserted one by one. */
const ROWS_AT_ONCE = 8

export class RowInserts {
  readonly #width: number
  readonly #one: StatementSync
  readonly #many: StatementSync

  /** `into` is an insert without its values, as in `insert into queue (id, lane)`. */
  constructor(connection: Connection, into: string, width: number) {
    const row = `(${Array.from({ length: width }, () => '?').join(', ')})`
    this.#width = width
    this.#one = connection.prepare(`${into} values ${row}`)
    this.#many = connection.prepare(`${into} values ${Array.from({ length: ROWS_AT_ONCE }, () => row).join(', ')}`)
  }

  /** Inserts rows, given as the values of all rows and the record id of each. Returns the number of new rows. */
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
