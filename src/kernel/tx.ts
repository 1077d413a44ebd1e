/**
 * All that the kernel sees of a store, and all that a store must provide. Reads see the operation's own writes; writes
 * take effect when the operation returns, or not at all.
 */
import type { EventDetail, EventSubject, EventType } from './model/events.ts'
import type { IndexEntry, Position } from './model/order.ts'
import type { Instant, PayloadEncoding, RecordType, RecordTypes } from './model/records.ts'

export interface Range {
  readonly index: string
  /** Where to begin; left out, at the end that `reverse` names. */
  readonly from?: Position | undefined
  /** The last score that still counts. */
  readonly to?: number | undefined
  readonly reverse?: boolean | undefined
  readonly limit: number
}

/** An opaque handle to raw bytes that came with the call. The kernel knows their size and encoding, never their content. */
export type BlobRef = number

export interface Tx {
  /** The store's clock, one value for the whole batch. */
  readonly now: Instant
  readonly get: <T extends RecordType>(type: T, id: string) => RecordTypes[T] | undefined
  readonly has: (type: RecordType, id: string) => boolean
  /** The records that exist, in the order of the ids. */
  readonly getMany: <T extends RecordType>(type: T, ids: string[]) => RecordTypes[T][]
  readonly put: (record: RecordTypes[RecordType]) => void
  readonly remove: (type: RecordType, id: string) => void
  readonly range: (range: Range) => IndexEntry[]
  /** A range together with the records its entries name, in one read. */
  readonly scan: <T extends RecordType>(range: Range, type: T) => RecordTypes[T][]
  readonly countUpTo: (range: Range) => number
  /**
   * Whether the store has kept entries of an advisory index from this read, because another claimer was just shown them.
   */
  readonly hides: (index: string) => boolean
  /** The score under which an id stands in an index. `expected` is where it should stand, and is looked at first. */
  readonly score: (index: string, id: string, expected: number) => number | undefined
  /**
   * Sets or removes an index entry against the derivation. Only the index reconciler may. `standsAt` is the score under
   * which it was found: a damaged index may hold an id more than once.
   */
  readonly repair: (index: string, id: string, score: number | undefined, standsAt?: number) => void
  /** Tells of a transition. */
  readonly emit: (type: EventType, subject: EventSubject, detail: EventDetail) => void
  readonly keep: (key: string, blob: BlobRef) => void
  readonly forget: (key: string) => void
  /**
   * Attaches stored bytes to the reply and returns their number there; undefined if nothing is stored under the key. `size`
   * is what the record knows of them, so that a store can count them before it has fetched them.
   */
  readonly send: (key: string, size: number) => number | undefined
  /**
   * Records that this operation may still put or remove; one that it has put already may be put again. What it has read
   * takes a little of the room as well.
   */
  readonly room: () => number
  /**
   * Runs a part of the operation that stands alone, such as the work on one record of a due pass. It decides only by what it
   * reads itself. If another process changes a record of one part, a store may apply the other parts without it.
   *
   * The object that a part returns is its report, and the answer depends on it. Until all parts with a report are applied, the
   * operation runs again, and `applied` of its input then has the reports of those that were applied before. The answer does
   * not depend on a part without a report: if such a part is not applied, `restOf` names what is left to do.
   */
  readonly part: (run: () => object | undefined) => void
  /** An impossible state: this operation fails with `corruption` and writes nothing. `recordId` names the record at fault. */
  readonly fault: (reason: string, recordId: string) => never
}

export interface BlobInput {
  readonly blob: BlobRef
  readonly size: number
  readonly encoding: PayloadEncoding
}
