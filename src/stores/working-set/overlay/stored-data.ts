/** The data that a batch reads and the writes that it leaves: all that an overlay needs of a store. */
import type { AnyRecord, FabricEvent, IndexEntry, Range, RecordType } from '../../../kernel/index.ts'

/** A record whose bytes exist but cannot be read: it was damaged outside. */
export const UNREADABLE: unique symbol = Symbol('unreadable')

/** Stands for a record that is known to be stored, without its content. */
export const PRESENT: unique symbol = Symbol('present')

/** 8 random bytes, drawn for each commit, as Latin-1 text. Every record that the commit writes carries them. */
export type Version = string

/** A record as it is stored. */
export interface StoredRecord {
  /** Undefined if its bytes cannot be read. Shared and immutable. */
  readonly record: AnyRecord | undefined
  readonly version: Version
  /** Bytes of the stored value, header included. */
  readonly length: number
  /** The index entries of the record, if already derived. */
  readonly entries?: readonly IndexEntry[] | undefined
}

/** A record as a batch has found it, with what its store knows of it. */
export interface FoundRecord {
  /** Undefined if there is none. Shared with other readers: the overlay returns copies. */
  readonly record: AnyRecord | typeof UNREADABLE | undefined
  /** The index entries of the record, if already derived. */
  readonly entries?: readonly IndexEntry[] | undefined
  /** Undefined if there is none, or if the store compares no versions. */
  readonly version?: Version | undefined
  /** Bytes of the stored value. */
  readonly length?: number
  /** The number of the load that it came from, rising from 1; 0 if it was cached or assumed. */
  readonly moment?: number
}

/** Reads one partition as it was when the batch began. */
export interface StoredData {
  /** Undefined if there is none, or if that is not known yet. */
  find(type: RecordType, id: string): FoundRecord | undefined
  /** In the order of the range, at most its limit. May return fewer than the limit, but at least `least` if there are as many. */
  range(range: Range, least?: number): IndexEntry[]
  count(range: Range): number
  /** `expected` is the score that the id should have: looking there first may avoid a search. */
  score(index: string, id: string, expected: number | undefined): number | undefined
  blob(key: string): Uint8Array | undefined
  /** Whether stored blobs are read with the commit, so that an operation runs without them. */
  readonly sendsLate?: boolean | undefined
  /** Whether entries of an index are hidden from this batch because another claim has reserved them. */
  hides?(index: string): boolean
  /** Whether an index is assumed to have nothing ready or due, without a load. */
  assumesClear?(index: string): boolean
  /** The flow whose version stands for the content of an index that was not loaded: a reader of the index depends on it. */
  recalledFlow?(index: string): string | undefined
  /** The number of the first load of anything in an index. */
  indexMomentOf?(index: string): number
}

/** The writes of a batch. */
export interface Writes {
  readonly records: readonly RecordWrite[]
  readonly entries: readonly EntryWrite[]
  readonly blobs: readonly BlobWrite[]
  readonly events: readonly EventWrite[]
}

export interface RecordWrite {
  readonly type: RecordType
  readonly id: string
  /** Undefined removes it. */
  readonly record: AnyRecord | undefined
  readonly existed: boolean
}

/** The scores of an index entry before and after; undefined: no entry. */
export interface EntryWrite {
  readonly index: string
  readonly id: string
  readonly before: number | undefined
  readonly after: number | undefined
}

export interface BlobWrite {
  readonly key: string
  /** Undefined removes it. */
  readonly bytes: Uint8Array | undefined
  /** False if the batch wrote it without removing an earlier one: a blob is never overwritten, so there was none. */
  readonly mayExist: boolean
}

export interface EventWrite {
  readonly event: FabricEvent
  /** Whether it carries a message for the holder of the execution's lease. */
  readonly isForHolder: boolean
}

export function isNothing({ records, entries, blobs, events }: Writes): boolean {
  return records.length === 0 && entries.length === 0 && blobs.length === 0 && events.length === 0
}
