/**
 * What a remote store provides beneath the operation port: load a snapshot, and commit grouped writes under conditions. Neither
 * knows an operation.
 */
import type { FabricEvent, IndexEntry, Instant } from '../../../kernel/index.ts'
import type { AnyRecord, RecordType } from '../../../kernel/index.ts'
import type { Partition } from '../../store.ts'
import type { Needs } from '../load/needs.ts'
import type { BlobWrite, EntryWrite, Version } from '../overlay/stored-data.ts'
import type { WorkingSet } from '../load/working-set.ts'

/** 8 random bytes as Latin-1 text. Identifies one locked run of one batch. */
export type LockToken = string

export interface LoadRequest {
  readonly partition: Partition
  readonly needs: Needs
  readonly into: WorkingSet
  /** Takes the partition's lock, or extends it if this token holds it already. */
  readonly lock?: LockToken | undefined
  /** Whether an earlier load took the lock: then the lock is extended, and never taken anew. */
  readonly holdsLock?: boolean | undefined
  /** Identifies the batch. Entries that an earlier load of the batch reserved are not hidden from it. Needed to reserve. */
  readonly reserver?: string | undefined
  /** The time by the caller's clock. Undefined: the store's clock. */
  readonly now?: Instant | undefined
}

export interface LoadReply {
  readonly now: Instant
  /** Set if the lock was asked for and another token holds it: nothing was loaded. Ask again after this many milliseconds. */
  readonly busyMs?: number | undefined
  /** Set if the lock of an earlier load has expired: nothing was loaded, and what was loaded before may have changed. */
  readonly isLockLost?: boolean | undefined
}

/** An item that an operation of a batch, or an independent part of one, has read or written. */
export interface OfOperation {
  /** Its number among those of the batch. */
  readonly operation: number
}

/** The expected version of one record. */
export interface Condition extends OfOperation {
  readonly type: RecordType
  readonly id: string
  /** Undefined: the record must be absent. */
  readonly version: Version | undefined
  /** Bytes of the stored value; a value of another length is damaged. */
  readonly length: number
  /** What the commit writes to the record, if it does. */
  readonly put?: RecordPut | undefined
}

/** No entry of an index may have a score up to this one; undefined: it must have no entries. */
export interface ClearCondition extends OfOperation {
  readonly index: string
  readonly upTo: number | undefined
}

export interface RecordPut extends OfOperation {
  readonly type: RecordType
  readonly id: string
  /** Undefined removes it. */
  readonly record: AnyRecord | undefined
  readonly entries: readonly IndexEntry[] | undefined
  /** Bytes of the stored value; the store fills it in when it packs the record. */
  length: number
}

export interface EntryPut extends EntryWrite, OfOperation {}

export interface BlobPut extends BlobWrite, OfOperation {}

export interface EventPut extends OfOperation {
  readonly event: FabricEvent
}

/**
 * A blob of an answer. It is read after the records of its group and before the commit. A commit that finds the records
 * unchanged confirms the bytes, since a blob is only ever written together with its record.
 */
export interface SentBlob extends OfOperation {
  readonly key: string
}

/** The conditions and writes of one batch. A group is applied atomically; groups share no record. */
export interface Commit {
  readonly partition: Partition
  readonly now: Instant
  /** How far `now` may lie behind the store's clock. Undefined: the clock is the caller's own and is not compared. */
  readonly lagMs: number | undefined
  /** The caller's own clock has gone back, so that events may be older than the newest of the log. */
  readonly isClockBack?: boolean
  readonly version: Version
  /** Set by a locked run: the commit is refused unless this token holds the lock. The commit releases it. */
  readonly lock?: LockToken | undefined
  /** Whether a lock that another token holds does not refuse this commit. */
  readonly passesLock: boolean
  /** Whether the commit is applied even if the store is out of memory. */
  readonly finishesWork: boolean
  readonly groupCount: number
  /** For each operation or part, the number of its group; undefined if it is not in the commit. */
  readonly groupOf: readonly (number | undefined)[]
  readonly conditions: readonly Condition[]
  /** Empty for a store that does not check them. */
  readonly clear: readonly ClearCondition[]
  readonly records: readonly RecordPut[]
  /** Grouped by index. */
  readonly entries: readonly EntryPut[]
  readonly blobs: readonly BlobPut[]
  /** In the order of the log. */
  readonly events: readonly EventPut[]
  readonly sends: readonly SentBlob[]
  /** Entries that were reserved by the loads of this batch. */
  readonly reserved: readonly IndexEntry[]
  /** Executions with news for their holders. */
  readonly holdersOf: readonly string[]
  /** Executions with new frames or signals. */
  readonly grown: readonly string[]
}

/** A commit without conditions and writes. */
export const EMPTY_COMMIT = {
  now: 0,
  lagMs: undefined,
  version: '',
  finishesWork: true,
  groupCount: 0,
  groupOf: [],
  conditions: [],
  clear: [],
  records: [],
  entries: [],
  blobs: [],
  events: [],
  sends: [],
  holdersOf: [],
  grown: [],
} as const satisfies Partial<Commit>

export interface AppliedReply {
  readonly kind: 'applied'
  readonly now: Instant
  /** Numbers of the groups whose conditions did not hold. The others were applied. */
  readonly failed: readonly number[]
  /** The blobs of `sends`; undefined for a missing one. Those of a failed group are void. */
  readonly sent: readonly (Uint8Array | undefined)[]
  /** The newest event of the partition. */
  readonly lastSequence: number
  /** The time of the events of the commit. Never decreases in the log. */
  readonly eventsAt: Instant
}

export type CommitReply =
  | AppliedReply
  /** Nothing was applied. */
  | { readonly kind: 'refused'; readonly reason: 'locked' | 'lock_lost' | 'clock'; readonly now: Instant }

/** A record that cannot be encoded. Nothing was sent. */
export class RefusedRecord extends Error {
  override readonly name = 'RefusedRecord'
  readonly recordId: string

  constructor(reason: string, recordId: string, options?: ErrorOptions) {
    super(reason, options)
    this.recordId = recordId
  }
}

export interface Backend {
  /** Whether commits check clear conditions. */
  readonly checksClear?: boolean | undefined
  /** Fills the working set with the needs, from one snapshot. */
  load(request: LoadRequest): Promise<LoadReply>
  /** Throws a `RefusedRecord` if one of the records cannot be stored. */
  commit(commit: Commit): Promise<CommitReply>
}
