/**
 * Records and events as bytes, in the form of `value-tags.ts`: the stored form of `codec.ts`, written from and read into
 * objects without lists between. An object is the list of its fields in the order of the schema, a union is the list of
 * its variant's number and fields, and a word is its number. Absent values at the end of an object are not written. The id of
 * a record is part of its key and not stored again.
 *
 * A reader keeps the values behind the last field that its schema knows and writes them back. Fields that an older writer
 * did not know read as absent. Fields, words and variants may therefore be appended; `schema.lock.json` guards the rest.
 */
import { eventFields, eventTypes, fieldsOf, recordTypes } from '../../../kernel/index.ts'
import type { AnyRecord, FabricEvent, RecordType, RecordTypes } from '../../../kernel/index.ts'
import { ByteReader } from './byte-reader.ts'
import { ByteWriter } from './byte-writer.ts'
import { putText } from './put-value.ts'
import { compileObject, compileRecord } from './record-code.ts'
import type { ObjectCode } from './record-code.ts'
import { ABSENT } from './value-tags.ts'

export type StoredEvent = Omit<FabricEvent, 'at'>

const recordCode = Object.fromEntries(
  recordTypes.map((type) => [type, compileRecord<AnyRecord>(type, fieldsOf(type))]),
) as Readonly<Record<RecordType, ObjectCode<AnyRecord>>>

const eventCode = compileObject<StoredEvent>(eventFields.filter((field) => field.name !== 'at'))

/** Writes a record without its id. Throws a RangeError and writes nothing if the record has a value that cannot be stored. */
export function writeRecord(record: AnyRecord, writer: ByteWriter): void {
  writer.value(recordCode[record.type].put, record)
}

/** Reads the record with an id that ends with the bytes. Throws a RangeError if the bytes are damaged. */
export function readRecord<T extends RecordType>(type: T, id: string, bytes: Buffer, start: number): RecordTypes[T] {
  return readWhole(recordCode[type], bytes, start, id) as RecordTypes[T]
}

/** Writes an event without its time, which the server adds. Throws a RangeError and writes nothing as `writeRecord` does. */
export function writeEvent(event: StoredEvent, writer: ByteWriter): void {
  writer.value(eventCode.put, event)
}

/** Reads the event that ends with the bytes. Throws a RangeError if the bytes are damaged. */
export function readEvent(bytes: Buffer, start: number): StoredEvent {
  return readWhole(eventCode, bytes, start)
}

/** The form of a text in an event. */
export function textBytes(text: string): Buffer {
  const writer = new ByteWriter()
  writer.value(putText, text)
  return writer.take()
}

/** The form of types of events, a byte each; empty for all. A type that is unknown here has none. */
export function typeBytes(types: readonly string[] = eventTypes): Buffer {
  const numbers = types.map((type) => eventTypes.findIndex((known) => known === type))
  if (numbers.length === eventTypes.length) return Buffer.alloc(0)
  const known = numbers.filter((number) => number >= 0)
  // No event begins with this byte, so none matches.
  return Buffer.from(known.length === 0 ? [ABSENT] : known)
}

function readWhole<T>(code: ObjectCode<T>, bytes: Buffer, start: number, id?: string): T {
  const reader = new ByteReader(bytes, start, id)
  const value = code.read(reader, reader.tag())
  reader.end()
  return value
}
