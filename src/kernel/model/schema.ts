/** Packs and unpacks records and events by their schemas. */
import { packFields, unpackFields, unpackOnto } from './codec.ts'
import type { Cell, Field } from './codec.ts'
import { eventFields } from './events.ts'
import type { FabricEvent } from './events.ts'
import { recordSchemas } from './records.ts'
import type { AnyRecord, RecordType, RecordTypes } from './records.ts'

/** Stored with a store's configuration. Only kernels of the same data version may share a store. */
export const DATA_VERSION = 1

export const recordTypes = Object.keys(recordSchemas) as readonly RecordType[]

/** The fields of a record type in their stored order. */
export function fieldsOf(type: RecordType): readonly Field[] {
  return recordSchemas[type].fields
}

/** A record of each type with every field in its stored order and no values. */
const blanks: Readonly<Record<RecordType, object>> = blankRecords()

function blankRecords(): Record<RecordType, object> {
  const entries = Object.values(recordSchemas).map(({ type, fields }) => {
    // Unlike an object that gets its fields one by one, a parsed one keeps its fields in place, and so do its copies.
    const names = ['type', ...fields.map(({ name }) => name)]
    const blank = JSON.parse(`{${names.map((name) => `${JSON.stringify(name)}:0`).join(',')}}`) as Record<
      string,
      unknown
    >
    for (const name of names) blank[name] = undefined
    blank['type'] = type
    return [type, blank]
  })
  return Object.fromEntries(entries) as Record<RecordType, object>
}

export function packRecord(record: AnyRecord): Cell[] {
  return packFields(fieldsOf(record.type), record)
}

export function unpackRecord<T extends RecordType>(type: T, cells: Cell[]): RecordTypes[T] {
  return unpackOnto(blanks[type], fieldsOf(type), cells) as unknown as RecordTypes[T]
}

export function packEvent(event: FabricEvent): Cell[] {
  return packFields(eventFields, event)
}

export function unpackEvent(cells: Cell[]): FabricEvent {
  return unpackFields(eventFields, cells) as unknown as FabricEvent
}
