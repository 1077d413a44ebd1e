/** The rows by which a partition of a file store differs from what it was before, as statements that write them. */
import { packEvent, packRecord } from '../src/kernel/index.ts'
import type { AnyRecord, IndexEntry } from '../src/kernel/index.ts'
import { eventColumns, recordColumns } from '../src/stores/sql/columns.ts'
import type { Column } from '../src/stores/sql/columns.ts'
import type { PartitionDump, StoredEvent } from '../src/stores/store.ts'

export type Value = string | number | Uint8Array | null

export interface Row {
  readonly sql: string
  readonly values: readonly Value[]
}

/** Stands in the values wherever the next number of the event log belongs. */
export const NEXT_SEQUENCE = -1
/** The number of the partition in the tables. */
export const PARTITION_NUMBER = 1

const UUID = /[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}/g

/** What makes ids differ from one life to the next, each once. */
export function uuidsIn(ids: readonly string[]): string[] {
  return [...new Set(ids.flatMap((id) => id.match(UUID) ?? []))]
}

/** What one step wrote. A step that adds bytes adds these. */
export function rowsBetween(before: PartitionDump, after: PartitionDump, bytes: Uint8Array): Row[] {
  const known = new Map(before.records.map((record) => [record.id, JSON.stringify(record)]))
  const [oldEntries, newEntries] = [new Set(before.entries.map(entryText)), new Set(after.entries.map(entryText))]
  const [oldKeys, newKeys] = [new Set(before.blobKeys), new Set(after.blobKeys)]
  const kept = new Set(after.records.map((record) => record.id))
  return [
    ...before.records.filter((record) => !kept.has(record.id)).map(removedRecordRow),
    ...after.records
      .filter((record) => known.get(record.id) !== JSON.stringify(record))
      .map((record) => recordRow(record, known.has(record.id))),
    ...before.entries.filter((entry) => !newEntries.has(entryText(entry))).map(removedEntryRow),
    ...after.entries.filter((entry) => !oldEntries.has(entryText(entry))).map(addedEntryRow),
    ...before.blobKeys.filter((key) => !newKeys.has(key)).map(removedBlobRow),
    ...after.blobKeys.filter((key) => !oldKeys.has(key)).map((key) => blobRow(key, bytes)),
    ...after.events.slice(before.events.length).map(eventRow),
  ]
}

function entryText({ index, score, id }: IndexEntry): string {
  return JSON.stringify([index, score, id])
}

function recordRow(record: AnyRecord, existed: boolean): Row {
  // A record is only ever handed to the columns of its own type.
  const columns = recordColumns[record.type] as readonly Column<AnyRecord>[]
  const names = [...columns.map((column) => column.name), 'record', 'id', 'partition']
  const values = [
    ...columns.map((column) => column.value(record) ?? null),
    JSON.stringify(packRecord(record)),
    record.id,
    PARTITION_NUMBER,
  ]
  if (!existed) return insertRow(record.type, names, values)
  const changes = names.slice(0, -2).map((name) => `${name} = ?`)
  return { sql: `update ${record.type} set ${changes.join(', ')} where id = ? and partition = ?`, values }
}

function removedRecordRow({ type, id }: AnyRecord): Row {
  return { sql: `delete from ${type} where id = ? and partition = ?`, values: [id, PARTITION_NUMBER] }
}

function addedEntryRow({ index, score, id }: IndexEntry): Row {
  return insertRow('entry', ['partition', 'name', 'score', 'id'], [PARTITION_NUMBER, index, score, id])
}

function removedEntryRow({ index, score, id }: IndexEntry): Row {
  const sql = 'delete from entry where partition = ? and name = ? and score = ? and id = ?'
  return { sql, values: [PARTITION_NUMBER, index, score, id] }
}

function blobRow(key: string, bytes: Uint8Array): Row {
  return insertRow('blob', ['partition', 'key', 'bytes'], [PARTITION_NUMBER, key, bytes])
}

function removedBlobRow(key: string): Row {
  return { sql: 'delete from blob where partition = ? and key = ?', values: [PARTITION_NUMBER, key] }
}

function eventRow({ sequence: _, ...event }: StoredEvent): Row {
  const names = [...eventColumns.map((column) => column.name), 'record', 'partition', 'sequence']
  const values = [
    ...eventColumns.map((column) => column.value(event) ?? null),
    JSON.stringify(packEvent(event)),
    PARTITION_NUMBER,
    NEXT_SEQUENCE,
  ]
  return insertRow('event', names, values)
}

function insertRow(table: string, names: readonly string[], values: readonly Value[]): Row {
  const marks = names.map(() => '?').join(', ')
  return { sql: `insert into ${table} (${names.join(', ')}) values (${marks})`, values }
}
