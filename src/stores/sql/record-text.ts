/** The stored text of records and events: JSON of their packed form. */
import { entriesOf, packRecord, unpackRecord } from '../../kernel/index.ts'
import type { AnyRecord, Cell, RecordType } from '../../kernel/index.ts'
import { UNREADABLE } from '../working-set/overlay/stored-data.ts'

export function cellsText(cells: readonly Cell[]): string {
  return JSON.stringify(cells)
}

export function recordText(record: AnyRecord): string {
  return JSON.stringify(packRecord(record))
}

/** Parses a stored record. A record whose index entries cannot be derived was damaged outside and is unreadable. */
export function readRecordText(type: RecordType, text: string): AnyRecord | typeof UNREADABLE {
  try {
    const record = unpackRecord(type, cellsOf(text))
    entriesOf(record)
    return record
  } catch {
    return UNREADABLE
  }
}

/** Parses packed values. Damaged text reads as an empty list. */
export function cellsOf(text: string): Cell[] {
  try {
    const cells: unknown = JSON.parse(text)
    return Array.isArray(cells) ? (cells as Cell[]) : []
  } catch {
    return []
  }
}
