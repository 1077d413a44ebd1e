/** One partition as a connection sees it, read through statements that stay prepared. */
import type { StatementSync } from 'node:sqlite'
import { entriesOf, recordTypes, unpackRecord } from '../../kernel/index.ts'
import type { Cell, IndexEntry, Range, RecordType } from '../../kernel/index.ts'
import type { StoredData } from '../stored-data.ts'
import type { Connection } from './connection.ts'
import { RangeStatements, argumentsOf } from './range-statements.ts'

export class StoredPartition implements StoredData {
  readonly #number: number
  readonly #records: ReadonlyMap<RecordType, StatementSync>
  readonly #range: RangeStatements
  readonly #count: RangeStatements
  readonly #entry: StatementSync
  readonly #score: StatementSync
  readonly #blob: StatementSync

  constructor(connection: Connection, number: number) {
    this.#number = number
    this.#records = new Map(
      recordTypes.map((type) => [
        type,
        connection.prepare(`select record from ${type} where id = ? and partition = ?`),
      ]),
    )
    this.#range = new RangeStatements(
      connection,
      (condition, order) => `select score, id from entry where ${condition} order by ${order} limit ?`,
    )
    this.#count = new RangeStatements(
      connection,
      (condition) => `select count(*) as count from (select 1 from entry where ${condition} limit ?)`,
    )
    this.#entry = connection.prepare('select 1 from entry where partition = ? and name = ? and score = ? and id = ?')
    this.#score = connection.prepare(
      'select score from entry where partition = ? and name = ? and id = ? order by score limit 1',
    )
    this.#blob = connection.prepare('select bytes from blob where partition = ? and key = ?')
  }

  record(type: RecordType, id: string): Cell[] | undefined {
    const row = this.#records.get(type)?.get(id, this.#number)
    return row === undefined ? undefined : cellsOf(row['record'] as string)
  }

  range(range: Range): IndexEntry[] {
    const rows = this.#range.for(range).all(...argumentsOf(this.#number, range))
    return rows.map((row) => ({ index: range.index, score: row['score'] as number, id: row['id'] as string }))
  }

  count(range: Range): number {
    const row = this.#count.for(range).get(...argumentsOf(this.#number, range))
    return row?.['count'] as number
  }

  /**
   * Only the reconciler asks this, so no index leads from an id to its score. The score that the record derives is the
   * right one nearly always; if the entry does not stand there, the whole index is searched.
   */
  score(index: string, id: string): number | undefined {
    const derived = this.#derivedScore(index, id)
    if (derived !== undefined && this.#entry.get(this.#number, index, derived, id) !== undefined) return derived
    return this.#score.get(this.#number, index, id)?.['score'] as number | undefined
  }

  blob(key: string): Uint8Array | undefined {
    return this.#blob.get(this.#number, key)?.['bytes'] as Uint8Array | undefined
  }

  #derivedScore(index: string, id: string): number | undefined {
    for (const type of recordTypes) {
      const cells = this.record(type, id)
      if (cells === undefined || cells.length === 0) continue
      const entry = entriesOf(unpackRecord(type, cells)).find((other) => other.index === index)
      if (entry !== undefined) return entry.score
    }
    return undefined
  }
}

/** Text that is no record at all is a record without values: whoever unpacks it finds that it cannot be read. */
function cellsOf(text: string): Cell[] {
  try {
    const cells: unknown = JSON.parse(text)
    return Array.isArray(cells) ? (cells as Cell[]) : []
  } catch {
    return []
  }
}
