/** What a batch reads of a partition and what it leaves to be written: all that an overlay asks of a store. */
import type { AnyRecord, Cell, FabricEvent, IndexEntry, Range, RecordType } from '../../kernel/index.ts'

/** What a store can read of one partition as it stood when the batch began. */
export interface StoredData {
  record(type: RecordType, id: string): Cell[] | undefined
  /** In the order of the range; at most its limit. Where there is more, `least` entries are enough, if it is given. */
  range(range: Range, least?: number): IndexEntry[]
  count(range: Range): number
  /** `expected` is where the id should stand, if it should: looking there first may spare a search. */
  score(index: string, id: string, expected: number | undefined): number | undefined
  blob(key: string): Uint8Array | undefined
  /** Whether entries of an advisory index were left out because another claimer was just shown them. Left out: never. */
  hides?(index: string): boolean
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
  readonly kept: KeptRecord | undefined
  readonly existed: boolean
}

export interface KeptRecord {
  readonly record: AnyRecord
  /** Its stored form. */
  readonly cells: Cell[]
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
  readonly cells: Cell[]
}
