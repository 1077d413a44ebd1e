/** What a batch holds of its partition while it runs. */
import type { AnyRecord, IndexEntry, RecordType } from '../../kernel/index.ts'
import { UNREADABLE } from './stored-data.ts'
import type { RecordWrite } from './stored-data.ts'

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
  /** The operation that touched it last. All that did are in one group. */
  operation: number
}

/** A stored blob that an answer carries and that comes with the commit. */
export interface LateBlob {
  readonly operation: number
  readonly key: string
  /** Where its bytes belong. */
  readonly into: Uint8Array[]
  readonly place: number
}

/** Undefined if the batch leaves the record as it found it. */
export function recordWrite({ type, id, stored, current, isChanged }: HeldRecord): RecordWrite | undefined {
  const existed = stored !== undefined
  if (!isChanged || current === UNREADABLE || (!existed && current === undefined)) return undefined
  return { type, id, record: current, existed }
}
