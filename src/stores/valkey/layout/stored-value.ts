/**
 * The stored form of a record: 8 bytes of version, the number of records that it brings along, the name of each behind its
 * length, then the body. And of an event: 6 bytes of time, then the body. The server reads all of it but the bodies.
 */
import type { AnyRecord, FabricEvent, IndexEntry, Instant, RecordType } from '../../../kernel/index.ts'
import type { StoredRecord, Version } from '../../working-set/overlay/stored-data.ts'
import { ByteWriter } from './byte-writer.ts'
import { readName } from './id-bytes.ts'
import { idParts, keyKinds } from './keys.ts'

/** How records and events become bytes, and which records are read together with others. */
export interface StoredForm {
  writeBody(record: AnyRecord, writer: ByteWriter): void
  /** Throws if the bytes from `start` on are no record of the type. */
  readBody(type: RecordType, id: string, bytes: Buffer, start: number): AnyRecord
  /** Throws if the record cannot have any: then it was damaged outside. */
  entriesOf(record: AnyRecord): readonly IndexEntry[]
  /** Without the time of the event. */
  writeEventBody(event: FabricEvent, writer: ByteWriter): void
  readEventBody(bytes: Buffer, start: number, at: Instant): FabricEvent
  /** The records that are loaded with a record whenever an index entry names it. */
  recordsReadAfter(record: AnyRecord): readonly RecordName[]
  /** The records that an entry of an index names. Their ids are the id of the entry between two texts. */
  namedBy(index: string): readonly NamedRecord[]
}

export interface RecordName {
  readonly type: RecordType
  readonly id: string
}

export interface NamedRecord {
  readonly type: RecordType
  readonly before: string
  readonly after: string
}

/** The layout of keys and values. Data in another layout is not read. */
export const LAYOUT_VERSION = 5

export const VERSION_BYTES = 8
export const TIME_BYTES = 6
/** What one byte can count. */
const BYTE_MAX = 255

/** Writes the value of a record. A record brings others for speed only, so one whose name is too long is left out. */
export function writeRecordValue(version: Version, record: AnyRecord, form: StoredForm, writer: ByteWriter): void {
  writer.bytes(version)
  const brought = form.recordsReadAfter(record)
  const countAt = writer.length
  writer.byte(0)
  let count = 0
  for (const { type, id } of brought) {
    if (count === BYTE_MAX || !writer.shortName(keyKinds[type], id, idParts[type])) continue
    count += 1
  }
  if (count > 0) writer.setByte(countAt, count)
  form.writeBody(record, writer)
}

/** The value of a record as bytes of its own. */
export function recordValue(version: Version, record: AnyRecord, form: StoredForm): Buffer {
  const writer = new ByteWriter()
  writeRecordValue(version, record, form, writer)
  return writer.take()
}

/** A record whose bytes cannot be read is there nevertheless, without its content. */
export function readRecordValue(type: RecordType, id: string, value: Buffer, form: StoredForm): StoredRecord {
  const { length } = value
  const version = value.toString('latin1', 0, VERSION_BYTES)
  try {
    const record = form.readBody(type, id, value, bodyStartOf(value))
    return { record, version, length, entries: form.entriesOf(record) }
  } catch {
    return { record: undefined, version, length, entries: undefined }
  }
}

function bodyStartOf(value: Buffer): number {
  let start = VERSION_BYTES + 1
  for (let left = value.readUInt8(VERSION_BYTES); left > 0; left--) start += 1 + value.readUInt8(start)
  return start
}

const typesByKind = new Map<string, RecordType>()
for (const [type, kind] of Object.entries(keyKinds)) {
  if (type !== 'index' && type !== 'blob') typesByKind.set(kind, type as RecordType)
}

/** What a name behind the prefix of a partition stands for; undefined if it is not that of a record. */
export function readRecordName(name: Buffer): RecordName | undefined {
  const kindEnd = name.indexOf(':') + 1
  const type = typesByKind.get(name.toString('latin1', 0, kindEnd))
  return type === undefined ? undefined : { type, id: readName(name, kindEnd) }
}

export function writeEventValue(at: Instant, event: FabricEvent, form: StoredForm, writer: ByteWriter): void {
  writer.time(at)
  form.writeEventBody(event, writer)
}

/** The value of an event as bytes of its own. */
export function eventValue(at: Instant, event: FabricEvent, form: StoredForm): Buffer {
  const writer = new ByteWriter()
  writeEventValue(at, event, form, writer)
  return writer.take()
}

export function readEventValue(value: Buffer, form: StoredForm): FabricEvent {
  return form.readEventBody(value, TIME_BYTES, value.readUIntLE(0, TIME_BYTES))
}

/** Without what a Buffer adds: callers get the same kind of bytes from every store. */
export function asBytes(value: Buffer | null | undefined): Uint8Array | undefined {
  return value === null || value === undefined
    ? undefined
    : new Uint8Array(value.buffer, value.byteOffset, value.length)
}
