/** Reads one partition through prepared statements. */
import type { StatementSync } from 'node:sqlite'
import { recordTypes } from '../../../kernel/index.ts'
import type { IndexEntry, Range, RecordType } from '../../../kernel/index.ts'
import { readRecordText } from '../../sql/record-text.ts'
import type { FoundRecord, StoredData } from '../../working-set/overlay/stored-data.ts'
import type { Connection } from '../connection/connection.ts'
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

  find(type: RecordType, id: string): FoundRecord | undefined {
    const row = this.#records.get(type)?.get(id, this.#number)
    return row === undefined ? undefined : { record: readRecordText(type, row['record'] as string) }
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
   * Only the reconciler reads scores, so no index leads from an id to its score. If the expected one is wrong, all
   * entries are searched.
   */
  score(index: string, id: string, expected: number | undefined): number | undefined {
    if (expected !== undefined && this.#entry.get(this.#number, index, expected, id) !== undefined) return expected
    return this.#score.get(this.#number, index, id)?.['score'] as number | undefined
  }

  blob(key: string): Uint8Array | undefined {
    return this.#blob.get(this.#number, key)?.['bytes'] as Uint8Array | undefined
  }
}
