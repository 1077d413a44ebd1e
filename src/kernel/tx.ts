/**
 * The transaction: all that the kernel sees of a store, and all that a store must provide. Reads see the operation's
 * own writes; writes take effect when the operation returns, or not at all.
 */
import type { EventDetail, EventSubject, EventType } from './model/events.ts'
import type { IndexEntry, Position } from './model/order.ts'
import type { Instant, PayloadEncoding, RecordType, RecordTypes } from './model/records.ts'

export interface Range {
  readonly index: string
  /** Where to begin; if absent, at the end that `reverse` names. */
  readonly from?: Position | undefined
  /** The last score of the range. */
  readonly to?: number | undefined
  readonly reverse?: boolean | undefined
  readonly limit: number
}

/** An opaque handle to bytes that came with the call. The kernel knows their size and encoding, never their content. */
export type BlobRef = number

export interface Tx {
  /** The store's clock, one value for the whole batch. */
  readonly now: Instant
  readonly get: <T extends RecordType>(type: T, id: string) => RecordTypes[T] | undefined
  readonly has: (type: RecordType, id: string) => boolean
  /** Returns the records that exist, in the order of the ids. */
  readonly getMany: <T extends RecordType>(type: T, ids: string[]) => RecordTypes[T][]
  readonly put: (record: RecordTypes[RecordType]) => void
  readonly remove: (type: RecordType, id: string) => void
  readonly range: (range: Range) => IndexEntry[]
  /** Reads a range together with the records of its entries. */
  readonly scan: <T extends RecordType>(range: Range, type: T) => RecordTypes[T][]
  readonly countUpTo: (range: Range) => number
  /** Whether entries of an advisory index are hidden from this read, because another claimer has just read them. */
  readonly hides: (index: string) => boolean
  /** Returns the score of an id in an index. `expected` is the likely score, which is checked first. */
  readonly score: (index: string, id: string, expected: number) => number | undefined
  /**
   * Sets or removes an index entry against the derivation. Only for the index reconciler. `standsAt` is the score at
   * which the entry was found: a damaged index may hold an id more than once.
   */
  readonly repair: (index: string, id: string, score: number | undefined, standsAt?: number) => void
  /** Appends an event to the log. */
  readonly emit: (type: EventType, subject: EventSubject, detail: EventDetail) => void
  readonly keep: (key: string, blob: BlobRef) => void
  /** Stores a copy of stored bytes under another key. Stores nothing if there are none. */
  readonly copy: (from: string, to: string) => void
  readonly forget: (key: string) => void
  /**
   * Attaches stored bytes to the reply and returns their position there; undefined if nothing is stored under the key.
   * `size` is the size in the record, so that a store can count the bytes before it loads them.
   */
  readonly send: (key: string, size: number) => number | undefined
  /** Returns how many records may still be put or removed; a repeated put is free. Reads take a little room too. */
  readonly room: () => number
  /**
   * Runs a part of the operation that stands alone, such as the work on one record of a due pass. It decides only by
   * its own reads. If another process changes a record of one part, a store may apply the other parts without it. The
   * object that a part returns is its report, and the answer depends on it. Until all parts with a report are applied,
   * the operation runs again, and `applied` in its input then has the reports of the earlier ones. The answer does not
   * depend on a part without a report: if such a part is not applied, `restOf` names what is left to do.
   */
  readonly part: (run: () => object | undefined) => void
  /** Fails this operation with `corruption` and writes nothing. `recordId` names the record at fault. */
  readonly fault: (reason: string, recordId: string) => never
}

export interface BlobInput {
  readonly blob: BlobRef
  readonly size: number
  readonly encoding: PayloadEncoding
}
