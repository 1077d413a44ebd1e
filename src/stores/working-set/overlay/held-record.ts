/** What a batch holds of its partition while it runs. */
import type { AnyRecord, IndexEntry, RecordType } from '../../../kernel/index.ts'
import { UNREADABLE } from './stored-data.ts'
import type { BlobWrite, EventWrite, RecordWrite } from './stored-data.ts'

/** A record that the batch has read or written. */
export interface HeldRecord {
  readonly type: RecordType
  readonly id: string
  /** As it was when the batch began. */
  readonly stored: AnyRecord | typeof UNREADABLE | undefined
  /** As the batch sees it. Private to the overlay. */
  current: AnyRecord | typeof UNREADABLE | undefined
  isChanged: boolean
  /** The index entries of the current record, once they were needed. */
  entries: readonly IndexEntry[] | undefined
  /** The operation, or the part of one, that touched it last. All that did are in one group. */
  operation: number
  /** The operation that wrote it last, in whichever part; undefined if none has. */
  writer: number | undefined
}

export interface HeldBlob extends BlobWrite {
  readonly operation: number
}

export interface HeldEvent extends EventWrite {
  readonly operation: number
}

/** A stored blob that an answer carries and that comes with the commit. */
export interface LateBlob {
  readonly operation: number
  readonly key: string
  /** Where its bytes belong. */
  readonly into: Uint8Array[]
  readonly place: number
}

/** Whether the batch leaves the record otherwise than it found it. */
export function writesRecord(held: HeldRecord): held is HeldRecord & { current: AnyRecord | undefined } {
  const { stored, current, isChanged } = held
  return isChanged && current !== UNREADABLE && (stored !== undefined || current !== undefined)
}

/** Undefined if the batch leaves the record as it found it. */
export function recordWrite(held: HeldRecord): RecordWrite | undefined {
  if (!writesRecord(held)) return undefined
  const { type, id, stored, current } = held
  return { type, id, record: current, existed: stored !== undefined }
}

/** The flow that a member names. */
export function flowIdIn(record: HeldRecord['stored']): string | undefined {
  if (record === undefined || record === UNREADABLE || record.type !== 'execution') return undefined
  return record.member?.flowId
}
