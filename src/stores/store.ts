/** The store port. A store knows records and indexes, no behaviour. */
import type {
  ExecutionId,
  FabricEvent,
  IndexEntry,
  Instant,
  OperationInput,
  OperationName,
  OperationResult,
  PartitionFamily,
} from '../kernel/index.ts'
import type { AnyRecord } from '../kernel/index.ts'
import type { EngineError } from '../kernel/engine-error.ts'

/** `<family>:<number>`. Everything that one operation touches lives in one partition. */
export type Partition = `${PartitionFamily}:${number}`

export function executionPartition(number: number): Partition {
  return `fp:${number}`
}

export interface Call<N extends OperationName = OperationName> {
  readonly operation: N
  readonly input: OperationInput<N>
  /** Raw bytes that the input refers to by number. */
  readonly blobs: readonly Uint8Array[]
}

export type Answer<N extends OperationName = OperationName> =
  | { readonly kind: 'answered'; readonly result: OperationResult<N>; readonly blobs: readonly Uint8Array[] }
  /** The operation found an impossible state and wrote nothing. */
  | { readonly kind: 'fault'; readonly reason: string; readonly recordId: string }
  /** The store could not run this operation. It wrote nothing. */
  | { readonly kind: 'failed'; readonly error: EngineError }
  /** The batch reached its limits before this operation. Send it again. */
  | { readonly kind: 'not_run' }

export interface StoredEvent extends FabricEvent {
  /** Rises by one from event to event of a partition. */
  readonly sequence: number
}

export interface EventPage {
  readonly events: readonly StoredEvent[]
  /** The oldest event that is still kept; anything before it was trimmed. */
  readonly firstSequence: number
  /** The newest event of the partition. */
  readonly lastSequence: number
}

/**
 * Which events a reader needs. Besides them a store returns the first and the last event that it has examined, and may return
 * others.
 */
export interface EventHint {
  /** All types unless given. */
  readonly types?: readonly string[] | undefined
  /** Texts that are among the values of an event. */
  readonly texts: readonly string[]
}

/** Events that a store examines for one page at most. */
export const EVENT_SCAN_MAX = 2_000

/** A hint that something changed. Listeners re-read the store to know. */
export interface Wake {
  readonly partition: Partition
  /** Ready indexes that gained entries; undefined: any may have. */
  readonly ready?: readonly string[] | undefined
  /** The earliest timer that was set. */
  readonly dueAt?: Instant | undefined
  /** Whether the event log grew. */
  readonly hasEvents: boolean
  /** The added events; undefined if unknown: then followers read the log. */
  readonly growth?: LogGrowth | undefined
  /** Executions with new frames or signals. If the log has grown by unknown events, any other may have some too. */
  readonly grown?: readonly string[] | undefined
  /** Executions with news for their holders, such as a cancel request; undefined: any may have. */
  readonly holdersOf?: readonly ExecutionId[] | undefined
}

/** The events that a write has added to the log of its partition. */
export interface LogGrowth {
  /** Sequence numbers of the first and the last one. */
  readonly first: number
  readonly last: number
  /** When they happened: all at the same time. */
  readonly at: Instant
  /** Executions and flows that ended. After a conflict there may be further ones that have not. */
  readonly ended: readonly string[]
}

/** While wake-ups may not arrive, a reader of a log looks for events this often. */
export const EVENT_SWEEP_MS = 1_000
/** While they arrive, only a fault that no store notices can lose one. */
export const QUIET_SWEEP_MS = 30_000

/** Which wake-ups a listener needs. */
export interface WakeInterest {
  /** The growth of this partition's event log. Left out: ready work, timers and news for holders, in all partitions. */
  readonly eventsOf?: Partition | undefined
}

/** Fixed when the store is first used, the same for all processes. */
export interface StoreSettings {
  readonly executionPartitions: number
  /** How many partitions hold limits. */
  readonly limitPartitions: number
  /** Names of the tags that have an index of executions. */
  readonly indexedTags: readonly string[]
}

/** A kind of names that concern a store as a whole. `retired_key`: ids of signing keys that must not be used again. */
export type FactKind = 'retired_key'

/** Facts of a store for operators. */
export interface StoreReport {
  readonly kind: string
  readonly version: string
  readonly location: string
  readonly durability: string
  readonly warnings: readonly string[]
  /** Keys that a dump scans, where a store shares its server with others. */
  readonly keyCount?: number | undefined
}

/** Everything in a partition, for checks of invariants. */
export interface PartitionDump {
  readonly records: readonly AnyRecord[]
  readonly entries: readonly IndexEntry[]
  readonly blobKeys: readonly string[]
  readonly events: readonly StoredEvent[]
}

/**
 * A transaction of the caller in the database of the store: a `pg` client, or anything that runs its statements. The caller
 * begins and ends it.
 */
export interface TransactionHandle {
  readonly query: (text: string, values: unknown[]) => Promise<unknown>
}

/** Called with the answer to a call of the batch, numbered from 0. */
export type AnswerListener = (call: number, answer: Answer) => void

export interface Store {
  readonly settings: StoreSettings
  /**
   * The level of the store, as this process last read it. Levels are only raised, so features of this level may be used. See
   * `level/store-level.ts`.
   */
  readonly level: number
  /** Batches of one partition in flight at most. Left out, two: one running, one in transit. */
  readonly batchesAtOnce?: number | undefined
  /**
   * Batches of all partitions that saturate the store. While so many are in flight, a batch that is not full waits for one
   * of them to return. Left out, a batch waits only for those of its own partition.
   */
  readonly busyBatches?: number | undefined
  /** Whether batches of a partition conflict with other processes: then only one should be in flight. */
  isContended?(partition: Partition): boolean
  /** Whether a server runs the operations, and the engine beside them. */
  readonly isRemote?: boolean
  /** The only namespace that its operations reach. Left out, they reach all. */
  readonly namespace?: string | undefined
  /**
   * Runs operations in order, each in isolation, in one batch. Returns the answers in the order of the calls. A store that
   * retries some of them may pass the answers of the others to `onAnswer` before.
   */
  run(partition: Partition, calls: readonly Call[], onAnswer?: AnswerListener): Promise<Answer[]>
  /**
   * Stages a submit in a transaction of the caller. The submit runs soon after the commit, and never after a rollback.
   * Errors of the transaction are rethrown unchanged. Only stores in a database that programs share have it.
   */
  stage?(tx: TransactionHandle, partition: Partition, call: Call<'createExecution'>): Promise<void>
  readEvents(partition: Partition, after: number, limit: number, hint?: EventHint): Promise<EventPage>
  /** Removes events older than an instant or beyond a count. Returns how many. */
  trimEvents(partition: Partition, olderThan: Instant, keepCount: number): Promise<number>
  /** Records names that belong to no partition. Idempotent. Names are never removed. */
  recordFacts(kind: FactKind, names: readonly string[]): Promise<void>
  /** Returns those of the names that were recorded, in any order. */
  findFacts(kind: FactKind, names: readonly string[]): Promise<string[]>
  /** The interest is a hint: a listener may get other wake-ups too. */
  onWake(listener: (wake: Wake) => void, interest?: WakeInterest): () => void
  /**
   * How long a reader of a log may wait for a wake-up before it looks by itself. If wake-ups cease to arrive, the store wakes its
   * listeners, and this is shorter then. Left out, a second.
   */
  eventSweepMs?(partition: Partition): number
  report(): Promise<StoreReport>
  dump(partition: Partition): Promise<PartitionDump>
  close(): Promise<void>
}
