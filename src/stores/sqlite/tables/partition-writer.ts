/** Writes the changes of a batch into the tables of one partition, in the caller's transaction. */
import type { SQLInputValue, StatementSync } from 'node:sqlite'
import { packEvent, recordTypes } from '../../../kernel/index.ts'
import type { RecordType } from '../../../kernel/index.ts'
import { eventColumns } from '../../sql/columns.ts'
import { cellsText } from '../../sql/record-text.ts'
import type { BlobWrite, EntryWrite, EventWrite, Writes } from '../../working-set/overlay/stored-data.ts'
import type { Connection } from '../connection/connection.ts'
import { RecordTable } from './record-table.ts'
import { RowInserts } from './row-statements.ts'

export class PartitionWriter {
  readonly #records: ReadonlyMap<RecordType, RecordTable>
  readonly #entries: EntryTable
  readonly #blobs: BlobTable
  readonly #events: EventTable

  constructor(connection: Connection, partition: number) {
    this.#records = new Map(recordTypes.map((type) => [type, new RecordTable(connection, partition, type)]))
    this.#entries = new EntryTable(connection, partition)
    this.#blobs = new BlobTable(connection, partition)
    this.#events = new EventTable(connection, partition)
  }

  /** Throws `RefusedRow` if a table refuses a row. */
  write(writes: Writes): void {
    for (const [type, table] of this.#records) table.write(writes.records.filter((record) => record.type === type))
    this.#entries.write(writes.entries)
    this.#blobs.write(writes.blobs)
    this.#events.append(writes.events)
  }
}

class EntryTable {
  readonly #partition: number
  readonly #insert: RowInserts
  readonly #delete: StatementSync

  constructor(connection: Connection, partition: number) {
    this.#partition = partition
    // An entry that exists already is the wanted one.
    this.#insert = new RowInserts(connection, 'insert or ignore into entry (partition, name, score, id)', 4)
    this.#delete = connection.prepare('delete from entry where partition = ? and name = ? and score = ? and id = ?')
  }

  write(writes: readonly EntryWrite[]): void {
    const newIds: string[] = []
    const newRows: SQLInputValue[] = []
    for (const { index, id, before, after } of writes) {
      if (before !== undefined) this.#delete.run(this.#partition, index, before, id)
      if (after === undefined) continue
      newIds.push(id)
      newRows.push(this.#partition, index, after, id)
    }
    this.#insert.insert(newIds, newRows)
  }
}

class BlobTable {
  readonly #partition: number
  readonly #insert: RowInserts
  readonly #update: StatementSync
  readonly #delete: StatementSync

  constructor(connection: Connection, partition: number) {
    this.#partition = partition
    this.#insert = new RowInserts(connection, 'insert or ignore into blob (partition, key, bytes)', 3)
    this.#update = connection.prepare('update blob set bytes = ? where partition = ? and key = ?')
    this.#delete = connection.prepare('delete from blob where partition = ? and key = ?')
  }

  write(writes: readonly BlobWrite[]): void {
    const keptKeys: string[] = []
    const keptRows: SQLInputValue[] = []
    for (const { key, bytes } of writes) {
      if (bytes === undefined) {
        this.#delete.run(this.#partition, key)
      } else {
        keptKeys.push(key)
        keptRows.push(this.#partition, key, bytes)
      }
    }
    // Nearly every blob is new, and a plain insert costs a third less than an upsert.
    if (this.#insert.insert(keptKeys, keptRows) === keptKeys.length) return
    for (const { key, bytes } of writes) if (bytes !== undefined) this.#update.run(bytes, this.#partition, key)
  }
}

class EventTable {
  readonly #partition: number
  readonly #insert: RowInserts
  readonly #lastSequence: StatementSync
  readonly #setLastSequence: StatementSync

  constructor(connection: Connection, partition: number) {
    this.#partition = partition
    const names = ['partition', 'sequence', ...eventColumns.map((column) => column.name), 'record']
    this.#insert = new RowInserts(connection, `insert into event (${names.join(', ')})`, names.length)
    this.#lastSequence = connection.prepare('select last_sequence from partition where number = ?')
    this.#setLastSequence = connection.prepare('update partition set last_sequence = ? where number = ?')
  }

  /**
   * Takes sequences from the partition's row under the write lock, so they rise without gaps in the order of commits.
   */
  append(events: readonly EventWrite[]): void {
    if (events.length === 0) return
    let sequence = this.#lastSequence.get(this.#partition)?.['last_sequence'] as number
    const executionIds: string[] = []
    const rows: SQLInputValue[] = []
    for (const { event } of events) {
      sequence += 1
      executionIds.push(event.executionId)
      rows.push(this.#partition, sequence)
      for (const column of eventColumns) rows.push(column.value(event) ?? null)
      rows.push(cellsText(packEvent(event)))
    }
    this.#insert.insert(executionIds, rows)
    this.#setLastSequence.run(sequence, this.#partition)
  }
}
