/** The table of one record type: its columns beside the packed record. */
import type { SQLInputValue, StatementSync } from 'node:sqlite'
import type { AnyRecord, RecordType } from '../../../kernel/index.ts'
import { recordColumns } from '../../sql/columns.ts'
import type { Column } from '../../sql/columns.ts'
import { recordText } from '../../sql/record-text.ts'
import type { RecordWrite } from '../../working-set/overlay/stored-data.ts'
import type { Connection } from '../connection/connection.ts'
import { RowInserts, writeRow } from './row-statements.ts'

export class RecordTable {
  readonly #partition: number
  readonly #columns: readonly Column<AnyRecord>[]
  readonly #insert: RowInserts
  readonly #update: StatementSync
  readonly #delete: StatementSync

  constructor(connection: Connection, partition: number, type: RecordType) {
    this.#partition = partition
    // A record is passed only to the columns of its own type.
    this.#columns = recordColumns[type] as readonly Column<AnyRecord>[]
    const changing = [...this.#columns.map((column) => column.name), 'record']
    const all = [...changing, 'id', 'partition']
    this.#insert = new RowInserts(connection, `insert into ${type} (${all.join(', ')})`, all.length)
    const changes = changing.map((name) => `${name} = ?`).join(', ')
    this.#update = connection.prepare(`update ${type} set ${changes} where id = ? and partition = ?`)
    this.#delete = connection.prepare(`delete from ${type} where id = ? and partition = ?`)
  }

  write(writes: readonly RecordWrite[]): void {
    const newIds: string[] = []
    const newRows: SQLInputValue[] = []
    for (const { id, record, existed } of writes) {
      if (record === undefined) {
        this.#delete.run(id, this.#partition)
      } else if (existed) {
        const row: SQLInputValue[] = []
        this.#addRow(row, id, record)
        writeRow(id, this.#update, row)
      } else {
        newIds.push(id)
        this.#addRow(newRows, id, record)
      }
    }
    this.#insert.insert(newIds, newRows)
  }

  #addRow(values: SQLInputValue[], id: string, record: AnyRecord): void {
    for (const column of this.#columns) values.push(column.value(record) ?? null)
    values.push(recordText(record), id, this.#partition)
  }
}
