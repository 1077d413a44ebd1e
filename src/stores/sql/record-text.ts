/** Records and events as tables keep them: the JSON text of their packed form. */
import { entriesOf, packRecord, unpackRecord } from '../../kernel/index.ts'
import type { AnyRecord, Cell, RecordType } from '../../kernel/index.ts'
import { UNREADABLE } from '../working-set/stored-data.ts'

/** Packed values as text. */
export function cellsText(cells: readonly Cell[]): string {
  return JSON.stringify(cells)
}

/** A record as a table keeps it. */
export function recordText(record: AnyRecord): string {
  return JSON.stringify(packRecord(record))
}

/** The record that a text was made from. One whose entries cannot be derived was damaged outside. */
export function readRecordText(type: RecordType, text: string): AnyRecord | typeof UNREADABLE {
  try {
    const record = unpackRecord(type, cellsOf(text))
    entriesOf(record)
    return record
  } catch {
    return UNREADABLE
  }
}

/** Text that is not a packed value reads as one without values. */
export function cellsOf(text: string): Cell[] {
  try {
    const cells: unknown = JSON.parse(text)
    return Array.isArray(cells) ? (cells as Cell[]) : []
  } catch {
    return []
  }
}
