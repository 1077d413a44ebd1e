/** The layouts that a migration moves data from, oldest first. */
import { entriesOf } from '../../../kernel/index.ts'
import type { AnyRecord, FabricEvent } from '../../../kernel/index.ts'
import { readEventValue, readRecordValue } from '../layout/stored-value.ts'
import { storedForm } from '../layout/stored-form.ts'
import type { OldRecordType } from './old-schema.ts'
import { readOldEvent, readOldRecord } from './old-layout.ts'

export interface OldLayout {
  readonly version: number
  /** What follows the letter of every kind of key, and the names of the log. */
  readonly mark: string
  /** Returns undefined for a value that was damaged outside. */
  readRecord(type: OldRecordType, id: string, value: Buffer): AnyRecord | undefined
  /** Returns undefined for a value that was damaged outside. */
  readEvent(value: Buffer): FabricEvent | undefined
}

/** Keys had no number, and values were fields in a fixed order. */
const layout3: OldLayout = {
  version: 3,
  mark: '',
  readRecord: (type, _id, value) => withEntries(readOldRecord(type, value)),
  readEvent: readOldEvent,
}

/** Ids were texts wherever they occurred. Values have the tags of the present layout. */
const layout4: OldLayout = {
  version: 4,
  mark: '4',
  readRecord: (type, id, value) => readRecordValue(type, id, value, storedForm).record,
  readEvent(value) {
    try {
      return readEventValue(value, storedForm)
    } catch (error) {
      if (error instanceof RangeError) return undefined
      throw error
    }
  },
}

export const oldLayouts: readonly OldLayout[] = [layout3, layout4]

/** A record whose entries cannot be derived was damaged outside. */
function withEntries(record: AnyRecord | undefined): AnyRecord | undefined {
  try {
    if (record !== undefined) entriesOf(record)
    return record
  } catch {
    return undefined
  }
}
