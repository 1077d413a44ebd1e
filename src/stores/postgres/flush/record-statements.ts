/** Builds the statements that change the table of one record type. Rows are sent as columns. */
import type { AnyRecord, RecordType } from '../../../kernel/index.ts'
import { recordColumns } from '../../sql/columns.ts'
import type { Column } from '../../sql/columns.ts'
import { recordText } from '../../sql/record-text.ts'
import { bigintArray, integerArray, textArray } from '../wire/arrays.ts'
import type { ArrayValue } from '../wire/arrays.ts'
import type { Statement } from '../wire/round-trip.ts'
import type { PartitionWrites } from './partition-writes.ts'

interface Row {
  readonly number: number
  readonly id: string
  readonly record: AnyRecord
}

type Text = Omit<Statement, 'values'>

export class RecordStatements {
  readonly #type: RecordType
  readonly #columns: readonly Column<AnyRecord>[]
  readonly #insert: Text
  readonly #update: Text
  readonly #delete: Text

  /** `schema` is a quoted name. */
  constructor(schema: string, type: RecordType) {
    this.#type = type
    // A record is passed only to the columns of its own type.
    this.#columns = recordColumns[type] as readonly Column<AnyRecord>[]
    const table = `${schema}.${type}`
    const changing = [...this.#columns.map(({ name }) => name), 'record']
    const names = [...changing, 'id', 'partition'].join(', ')
    const types = this.#columns.map(({ type }) => (type === 'text' ? 'text' : 'bigint'))
    const arrays = [...types, 'text', 'text', 'integer'].map((type, i) => `$${i + 1}::${type}[]`)
    const rows = `unnest(${arrays.join(', ')}) as k (${names})`
    this.#insert = {
      name: `ff_insert_record_${type}`,
      text: `insert into ${table} (${names}) select ${names} from ${rows}`,
    }
    this.#update = {
      name: `ff_update_record_${type}`,
      text: `update ${table} r set ${changing.map((name) => `${name} = k.${name}`).join(', ')}
        from ${rows} where r.id = k.id and r.partition = k.partition`,
    }
    this.#delete = {
      name: `ff_delete_record_${type}`,
      text: `delete from ${table} r using unnest($1::integer[], $2::text[]) as k (partition, id)
        where r.id = k.id and r.partition = k.partition`,
    }
  }

  statements(all: readonly PartitionWrites[]): Statement[] {
    const inserted: Row[] = []
    const updated: Row[] = []
    const removed: Omit<Row, 'record'>[] = []
    for (const { number, writes } of all) {
      for (const { type, id, record, existed } of writes.records) {
        if (type !== this.#type) continue
        if (record === undefined) removed.push({ number, id })
        else (existed ? updated : inserted).push({ number, id, record })
      }
    }
    const statements: Statement[] = []
    if (removed.length > 0) statements.push({ ...this.#delete, values: [numbersOf(removed), idsOf(removed)] })
    if (updated.length > 0) statements.push({ ...this.#update, values: this.#valuesOf(updated) })
    if (inserted.length > 0) statements.push({ ...this.#insert, values: this.#valuesOf(inserted) })
    return statements
  }

  #valuesOf(rows: readonly Row[]): ArrayValue[] {
    const values = this.#columns.map(({ type, value }) => {
      const column = rows.map(({ record }) => value(record))
      return type === 'text'
        ? textArray(column as readonly (string | undefined)[])
        : bigintArray(column as readonly (number | undefined)[])
    })
    values.push(textArray(rows.map(({ record }) => recordText(record))), idsOf(rows), numbersOf(rows))
    return values
  }
}

function idsOf(rows: readonly Pick<Row, 'id'>[]): ArrayValue {
  return textArray(rows.map(({ id }) => id))
}

function numbersOf(rows: readonly Pick<Row, 'number'>[]): ArrayValue {
  return integerArray(rows.map(({ number }) => number))
}
