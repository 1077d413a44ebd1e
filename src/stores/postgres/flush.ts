/**
 * Turns what batches leave behind into statements: one for each kind of change, whatever the number of partitions and
 * rows. The rows travel as columns; bytes travel as one piece that the server cuts apart.
 *
 * A hopeful flush takes it that what a batch has read is all there is, and is refused where that is not so: where somebody
 * has damaged an index, say. A careful one sets right what it finds, and costs twice as much.
 */
import { recordTypes } from '../../kernel/index.ts'
import type { AnyRecord, RecordType } from '../../kernel/index.ts'
import { eventColumns, recordColumns } from '../columns.ts'
import type { Column } from '../columns.ts'
import { recordText } from '../record-text.ts'
import type { EventWrite, KeptRecord, Writes } from '../stored-data.ts'
import type { Partition } from '../store.ts'
import { nameArray, numberArray, textArray } from './array-text.ts'
import type { Statement } from './connection.ts'

/** What a batch leaves to be written in one partition. */
export interface PartitionWrites {
  readonly partition: Partition
  readonly number: number
  /** The number of the partition's newest event before these; undefined for one that has never had any. */
  readonly lastSequence: number | undefined
  readonly writes: Writes
}

type Text = Omit<Statement, 'values'>

export class Flusher {
  readonly #records: ReadonlyMap<RecordType, RecordStatements>
  readonly #insertEntries: Text
  readonly #settleEntries: Text
  readonly #deleteEntries: Text
  readonly #insertBlobs: Text
  readonly #deleteBlobs: Text
  readonly #insertEvents: Text
  readonly #setSequences: Text
  readonly #addPartitions: Text

  /** `schema` is a quoted name. */
  constructor(schema: string) {
    this.#records = new Map(recordTypes.map((type) => [type, new RecordStatements(schema, type)]))
    const entryKey = 'k (partition, name, score, id)'
    const entryColumns = 'unnest($1::integer[], $2::text[], $3::bigint[], $4::text[])'
    const insertEntries = `insert into ${schema}.entry (partition, name, score, id)
      select partition, name, score, id from ${entryColumns} as ${entryKey}`
    this.#insertEntries = { name: 'ff_insert_entry', text: insertEntries }
    // An entry that stands there already is what shall stand there.
    this.#settleEntries = { name: 'ff_settle_entry', text: `${insertEntries} on conflict do nothing` }
    this.#deleteEntries = {
      name: 'ff_delete_entry',
      text: `delete from ${schema}.entry e using ${entryColumns} as ${entryKey}
        where e.partition = k.partition and e.name = k.name and e.score = k.score and e.id = k.id`,
    }
    this.#insertBlobs = {
      name: 'ff_insert_blob',
      text: `insert into ${schema}.blob (partition, key, bytes)
        select partition, key, substring($5::bytea from place for size)
        from unnest($1::integer[], $2::text[], $3::integer[], $4::integer[]) as k (partition, key, place, size)`,
    }
    this.#deleteBlobs = {
      name: 'ff_delete_blob',
      text: `delete from ${schema}.blob b using unnest($1::integer[], $2::text[]) as k (partition, key)
        where b.key = k.key and b.partition = k.partition`,
    }
    this.#insertEvents = insertText(`${schema}.event`, 'ff_insert_event', eventTableColumns)
    this.#setSequences = {
      name: 'ff_set_sequence',
      text: `update ${schema}.partition p set last_sequence = k.last_sequence
        from unnest($1::integer[], $2::bigint[]) as k (number, last_sequence) where p.number = k.number`,
    }
    this.#addPartitions = {
      name: 'ff_add_partition',
      text: `insert into ${schema}.partition (number, last_sequence, name)
        select number, last_sequence, name
        from unnest($1::integer[], $2::bigint[], $3::text[]) as k (number, last_sequence, name)`,
    }
  }

  statements(all: readonly PartitionWrites[], isCareful: boolean): Statement[] {
    return [
      ...recordTypes.flatMap((type) => this.#records.get(type)?.statements(all) ?? []),
      ...this.#writeEntries(all, isCareful),
      ...this.#writeBlobs(all, isCareful),
      ...this.#appendEvents(all),
    ]
  }

  #writeEntries(all: readonly PartitionWrites[], isCareful: boolean): Statement[] {
    const [removed, added] = [new Columns(...ENTRY_KINDS), new Columns(...ENTRY_KINDS)]
    for (const { number, writes } of all) {
      for (const { index, id, before, after } of writes.entries) {
        if (before !== undefined) removed.add(number, index, before, id)
        if (after !== undefined) added.add(number, index, after, id)
      }
    }
    return [
      ...removed.statement(this.#deleteEntries),
      ...added.statement(isCareful ? this.#settleEntries : this.#insertEntries),
    ]
  }

  #writeBlobs(all: readonly PartitionWrites[], isCareful: boolean): Statement[] {
    const forgotten = new Columns('number', 'text')
    const kept = new Columns('number', 'text', 'number', 'number')
    const pieces: Uint8Array[] = []
    let place = 1
    for (const { number, writes } of all) {
      for (const { key, bytes, mayExist } of writes.blobs) {
        if (mayExist || isCareful) forgotten.add(number, key)
        if (bytes === undefined) continue
        kept.add(number, key, place, bytes.byteLength)
        pieces.push(bytes)
        place += bytes.byteLength
      }
    }
    const put = kept.statement(this.#insertBlobs).map((statement) => ({
      ...statement,
      values: [...statement.values, Buffer.concat(pieces)],
    }))
    return [...forgotten.statement(this.#deleteBlobs), ...put]
  }

  /** Numbers come from the partition's row under its lock, so they rise without gaps in the order of commits. */
  #appendEvents(all: readonly PartitionWrites[]): Statement[] {
    const events = new Columns(...eventTableColumns.map(({ type }) => kindOf(type)))
    const [known, added] = [new Columns('number', 'number'), new Columns('number', 'number', 'text')]
    for (const { partition, number, lastSequence, writes } of all) {
      if (writes.events.length === 0) continue
      let sequence = lastSequence ?? 0
      for (const event of writes.events) events.add(...eventRow(number, ++sequence, event))
      if (lastSequence === undefined) added.add(number, sequence, partition)
      else known.add(number, sequence)
    }
    return [
      ...events.statement(this.#insertEvents),
      ...known.statement(this.#setSequences),
      ...added.statement(this.#addPartitions),
    ]
  }
}

/** The statements that change the table of one record type. */
class RecordStatements {
  readonly #type: RecordType
  readonly #columns: readonly Column<AnyRecord>[]
  readonly #insert: Text
  readonly #update: Text
  readonly #delete: Text

  constructor(schema: string, type: RecordType) {
    this.#type = type
    // A record is only ever handed to the columns of its own type.
    this.#columns = recordColumns[type] as readonly Column<AnyRecord>[]
    const table = `${schema}.${type}`
    const changing: TableColumn[] = [...this.#columns, { name: 'record', type: 'text' }]
    const all: TableColumn[] = [...changing, { name: 'id', type: 'text' }, { name: 'partition', type: 'integer' }]
    this.#insert = insertText(table, `ff_insert_${type}`, all)
    this.#update = {
      name: `ff_update_${type}`,
      text: `update ${table} r set ${changing.map(({ name }) => `${name} = k.${name}`).join(', ')}
        from ${unnestOf(all)} where r.id = k.id and r.partition = k.partition`,
    }
    this.#delete = {
      name: `ff_delete_${type}`,
      text: `delete from ${table} r using unnest($1::integer[], $2::text[]) as k (partition, id)
        where r.id = k.id and r.partition = k.partition`,
    }
  }

  statements(all: readonly PartitionWrites[]): Statement[] {
    const kinds = [...this.#columns.map(({ type }) => kindOf(type)), 'text', 'text', 'number'] as const
    const [inserted, updated] = [new Columns(...kinds), new Columns(...kinds)]
    const removed = new Columns('number', 'text')
    for (const { number, writes } of all) {
      for (const { type, id, kept, existed } of writes.records) {
        if (type !== this.#type) continue
        if (kept === undefined) removed.add(number, id)
        else if (existed) updated.add(...this.#row(number, id, kept))
        else inserted.add(...this.#row(number, id, kept))
      }
    }
    return [...removed.statement(this.#delete), ...updated.statement(this.#update), ...inserted.statement(this.#insert)]
  }

  #row(number: number, id: string, { record, cells }: KeptRecord): Value[] {
    const row: Value[] = this.#columns.map((column) => column.value(record))
    row.push(recordText(cells), id, number)
    return row
  }
}

type Value = string | number | undefined
type ColumnKind = 'text' | 'name' | 'number'

const ENTRY_KINDS: readonly ColumnKind[] = ['number', 'name', 'number', 'text']

interface TableColumn {
  readonly name: string
  readonly type: 'text' | 'integer'
}

const eventTableColumns: readonly TableColumn[] = [
  { name: 'partition', type: 'integer' },
  { name: 'sequence', type: 'integer' },
  ...eventColumns,
  { name: 'record', type: 'text' },
]

function eventRow(number: number, sequence: number, { event, cells }: EventWrite): Value[] {
  return [number, sequence, ...eventColumns.map((column) => column.value(event)), recordText(cells)]
}

/** Rows that are collected column by column, as the server takes them. */
class Columns {
  readonly #kinds: readonly ColumnKind[]
  readonly #columns: Value[][]

  constructor(...kinds: readonly ColumnKind[]) {
    this.#kinds = kinds
    this.#columns = kinds.map(() => [])
  }

  add(...row: readonly Value[]): void {
    for (let i = 0; i < row.length; i++) this.#columns[i]?.push(row[i])
  }

  /** None if there are no rows. */
  statement(text: Text): (Text & { readonly values: readonly unknown[] })[] {
    if (this.#columns[0]?.length === 0) return []
    return [{ ...text, values: this.#columns.map((column, i) => arrayOf(this.#kinds[i] ?? 'text', column)) }]
  }
}

function arrayOf(kind: ColumnKind, column: readonly Value[]): string {
  switch (kind) {
    case 'text':
      return textArray(column as readonly (string | undefined)[])
    case 'name':
      return nameArray(column as readonly string[])
    case 'number':
      return numberArray(column as readonly (number | undefined)[])
  }
}

function kindOf(type: 'text' | 'integer'): ColumnKind {
  return type === 'text' ? 'text' : 'number'
}

function insertText(table: string, name: string, columns: readonly TableColumn[]): Text {
  const names = columns.map((column) => column.name).join(', ')
  return { name, text: `insert into ${table} (${names}) select ${names} from ${unnestOf(columns)}` }
}

/** The parameters of a statement as a table `k` with these columns. */
function unnestOf(columns: readonly TableColumn[]): string {
  const arrays = columns.map(({ type }, i) => `$${i + 1}::${type === 'text' ? 'text' : 'bigint'}[]`)
  return `unnest(${arrays.join(', ')}) as k (${columns.map(({ name }) => name).join(', ')})`
}
