/** What a batch reads of a partition and what it leaves to be written: all that an overlay asks of a store. */
import type { AnyRecord, FabricEvent, IndexEntry, Range, RecordType } from '../../../kernel/index.ts'

/** A record whose bytes are there but cannot be read: it was damaged outside. */
export const UNREADABLE: unique symbol = Symbol('unreadable')

/** 8 random bytes, drawn for each commit, as Latin-1 text. Every record that the commit writes carries them. */
export type Version = string

/** A record as it is stored. */
export interface StoredRecord {
  /** Undefined if its bytes cannot be read. Shared: never changed. */
  readonly record: AnyRecord | undefined
  readonly version: Version
  /** Bytes of the stored value, header included. */
  readonly length: number
  /** The index entries of the record, if they are known already. */
  readonly entries?: readonly IndexEntry[] | undefined
}

/** What a store can read of one partition as it stood when the batch began. */
export interface StoredData {
  /** Shared with other readers: the overlay copies what it hands out. */
  record(type: RecordType, id: string): AnyRecord | typeof UNREADABLE | undefined
  /** The index entries of a stored record, if they are known without deriving them. */
  entriesOf?(type: RecordType, id: string): readonly IndexEntry[] | undefined
  /** In the order of the range; at most its limit. Where there is more, `least` entries are enough, if it is given. */
  range(range: Range, least?: number): IndexEntry[]
  count(range: Range): number
  /** `expected` is where the id should stand, if it should: looking there first may spare a search. */
  score(index: string, id: string, expected: number | undefined): number | undefined
  blob(key: string): Uint8Array | undefined
  /** Whether stored blobs come with the commit, so that an operation need not have them while it runs. */
  readonly sendsLate?: boolean | undefined
  /** Whether entries of an index were kept from this batch because another claimer was just shown them. */
  hides?(index: string): boolean
  /** Whether nothing in an index was taken to be ready or due, without a look at the store. */
  assumesClear?(index: string): boolean
  /** The flow whose version stands for the content of an index that was not loaded: a reader of the index depends on it. */
  recalledFlow?(index: string): string | undefined
  /** Which load a record came from: a number that rises; 0 was not loaded for this batch but known or assumed before. */
  momentOf?(type: RecordType, id: string): number
  /** The first load from which anything of an index came. */
  indexMomentOf?(index: string): number
}

/** What a batch leaves to be written. */
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

/** An index entry as it was and as it shall be; undefined on either side means that there is none. */
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
  /** False if the batch has kept it without forgetting an earlier one: then there was none, since a kept one is never kept over. */
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
