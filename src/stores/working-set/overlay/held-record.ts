/** Records, blobs and events that a batch has touched. */
import type { AnyRecord, IndexEntry, RecordType } from '../../../kernel/index.ts'
import { UNREADABLE } from './stored-data.ts'
import type { BlobWrite, EventWrite, FoundRecord, RecordWrite } from './stored-data.ts'

/** A record that the batch has read or written. */
export interface HeldRecord {
  readonly type: RecordType
  readonly id: string
  /** What the store knows of it. */
  readonly found: FoundRecord | undefined
  /** Its state when the batch began. */
  readonly stored: AnyRecord | typeof UNREADABLE | undefined
  /** Its state within the batch. Private to the overlay. */
  current: AnyRecord | typeof UNREADABLE | undefined
  isChanged: boolean
  /** The index entries of the current record, once they were needed. */
  entries: readonly IndexEntry[] | undefined
  /** The operation, or part of one, that touched it last. All of them are in one group. */
  operation: number
  /** The operation that wrote it last, in any of its parts; undefined if none did. */
  writer: number | undefined
}

/** A record at its first use in a batch. */
export function newlyHeld(type: RecordType, id: string, found: FoundRecord | undefined, operation: number): HeldRecord {
  const stored = found?.record
  return {
    type,
    id,
    found,
    stored,
    current: stored,
    isChanged: false,
    entries: undefined,
    operation,
    writer: undefined,
  }
}

export interface HeldBlob extends BlobWrite {
  readonly operation: number
}

export interface HeldEvent extends EventWrite {
  readonly operation: number
}

/** A stored blob of an answer that is read with the commit. */
export interface LateBlob {
  readonly operation: number
  readonly key: string
  /** Where its bytes belong. */
  readonly into: Uint8Array[]
  readonly place: number
}

/** Records that nearly every operation of a lane reads, and that seldom change. */
const SHARED_TYPES: readonly RecordType[] = ['lane']

/** Whether operations may read a record without depending on each other: the batch has not changed it. */
export function isShared({ type, isChanged }: HeldRecord): boolean {
  return !isChanged && SHARED_TYPES.includes(type)
}

/** Whether the batch changed the record. */
export function writesRecord(held: HeldRecord): held is HeldRecord & { current: AnyRecord | undefined } {
  const { stored, current, isChanged } = held
  return isChanged && current !== UNREADABLE && (stored !== undefined || current !== undefined)
}

/** Undefined if the batch did not change the record. */
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
