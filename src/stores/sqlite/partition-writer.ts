/** Writes what a batch leaves behind into the tables of one partition, inside the caller's transaction. */
import type { StatementSync } from 'node:sqlite'
import { recordTypes } from '../../kernel/index.ts'
import type { AnyRecord, RecordType } from '../../kernel/index.ts'
import { eventColumns, recordColumns } from '../columns.ts'
import type { Column } from '../columns.ts'
import type { EntryWrite, EventWrite, RecordWrite, Writes } from '../stored-data.ts'
import type { Connection } from './connection.ts'
import { isRefusedRow } from './sqlite-error.ts'

type Bound = string | number | null

/** A table's own rules forbid a row: the operation that made it is at fault, not the store. */
export class RefusedRow extends Error {
  override readonly name = 'RefusedRow'
  /** The record, entry or blob whose row it is. */
  readonly recordId: string

  constructor(recordId: string, cause: unknown) {
    super(cause instanceof Error ? cause.message : String(cause), { cause })
    this.recordId = recordId
  }
}

class RecordTable {
  readonly #columns: readonly Column<AnyRecord>[]
  readonly #insert: StatementSync
  readonly #update: StatementSync
  readonly #delete: StatementSync

  constructor(connection: Connection, type: RecordType) {
    // A record is only ever handed to the columns of its own type.
    this.#columns = recordColumns[type] as readonly Column<AnyRecord>[]
    const names = [...this.#columns.map((column) => column.name), 'record', 'id', 'partition']
    this.#insert = connection.prepare(
      `insert into ${type} (${names.join(', ')}) values (${names.map(() => '?').join(', ')})`,
    )
    const changes = names.slice(0, -2).map((name) => `${name} = ?`)
    this.#update = connection.prepare(`update ${type} set ${changes.join(', ')} where id = ? and partition = ?`)
    this.#delete = connection.prepare(`delete from ${type} where id = ? and partition = ?`)
  }

  write({ id, kept, existed }: RecordWrite, partition: number): void {
    if (kept === undefined) {
      this.#delete.run(id, partition)
      return
    }
    const values = boundValues(this.#columns, kept.record)
    values.push(JSON.stringify(kept.cells), id, partition)
    if (existed) this.#update.run(...values)
    else this.#insert.run(...values)
  }
}

export class PartitionWriter {
  readonly #partition: number
  readonly #tables: ReadonlyMap<RecordType, RecordTable>
  readonly #insertEntry: StatementSync
  readonly #deleteEntry: StatementSync
  readonly #insertBlob: StatementSync
  readonly #updateBlob: StatementSync
  readonly #deleteBlob: StatementSync
  readonly #insertEvent: StatementSync
  readonly #lastSequence: StatementSync
  readonly #setLastSequence: StatementSync

  constructor(connection: Connection, partition: number) {
    this.#partition = partition
    this.#tables = new Map(recordTypes.map((type) => [type, new RecordTable(connection, type)]))
    // An entry that stands there already is what shall stand there.
    this.#insertEntry = connection.prepare(
      'insert or ignore into entry (partition, name, score, id) values (?, ?, ?, ?)',
    )
    this.#deleteEntry = connection.prepare(
      'delete from entry where partition = ? and name = ? and score = ? and id = ?',
    )
    // Nearly every blob is new; trying to insert it first takes a third less time than a statement for both cases.
    this.#insertBlob = connection.prepare('insert or ignore into blob (bytes, partition, key) values (?, ?, ?)')
    this.#updateBlob = connection.prepare('update blob set bytes = ? where partition = ? and key = ?')
    this.#deleteBlob = connection.prepare('delete from blob where partition = ? and key = ?')
    const names = [...eventColumns.map((column) => column.name), 'record', 'partition', 'sequence']
    this.#insertEvent = connection.prepare(
      `insert into event (${names.join(', ')}) values (${names.map(() => '?').join(', ')})`,
    )
    this.#lastSequence = connection.prepare('select last_sequence from partition where number = ?')
    this.#setLastSequence = connection.prepare('update partition set last_sequence = ? where number = ?')
  }

  /** Throws a `RefusedRow` if the tables do not take what was written. */
  write(writes: Writes): void {
    let writing = ''
    try {
      for (const record of writes.records) {
        writing = record.id
        this.#tables.get(record.type)?.write(record, this.#partition)
      }
      for (const entry of writes.entries) {
        writing = entry.id
        this.#writeEntry(entry)
      }
      for (const { key, bytes } of writes.blobs) {
        writing = key
        this.#writeBlob(key, bytes)
      }
      writing = 'event'
      if (writes.events.length > 0) this.#appendEvents(writes.events)
    } catch (error) {
      throw isRefusedRow(error) ? new RefusedRow(writing, error) : error
    }
  }

  #writeEntry({ index, id, before, after }: EntryWrite): void {
    if (before !== undefined) this.#deleteEntry.run(this.#partition, index, before, id)
    if (after !== undefined) this.#insertEntry.run(this.#partition, index, after, id)
  }

  #writeBlob(key: string, bytes: Uint8Array | undefined): void {
    if (bytes === undefined) this.#deleteBlob.run(this.#partition, key)
    else if (this.#insertBlob.run(bytes, this.#partition, key).changes === 0) this.#updateBlob.run(bytes, this.#partition, key)
  }

  /** Numbers come from the partition's row under the write lock, so they rise without gaps in the order of commits. */
  #appendEvents(events: readonly EventWrite[]): void {
    let sequence = this.#lastSequence.get(this.#partition)?.['last_sequence'] as number
    for (const { event, cells } of events) {
      sequence += 1
      const values = boundValues(eventColumns, event)
      values.push(JSON.stringify(cells), this.#partition, sequence)
      this.#insertEvent.run(...values)
    }
    this.#setLastSequence.run(sequence, this.#partition)
  }
}

function boundValues<T>(columns: readonly Column<T>[], of: T): Bound[] {
  const values: Bound[] = []
  for (const column of columns) values.push(column.value(of) ?? null)
  return values
}
