/** The port: what a client, a worker or an engine asks of a store. A store knows records and indexes, no behaviour. */
import type {
  ExecutionId,
  FabricEvent,
  IndexEntry,
  Instant,
  OperationInput,
  OperationName,
  OperationResult,
} from '../kernel/index.ts'
import type { AnyRecord } from '../kernel/index.ts'
import type { EngineError } from '../kernel/engine-error.ts'

/** `<family>:<number>`. Everything that one operation touches lives in one partition. */
export type Partition = `${PartitionFamily}:${number}`
/** `fp` holds executions and what belongs to them. */
export type PartitionFamily = 'fp'

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
  /** The operation met an impossible state and wrote nothing. */
  | { readonly kind: 'fault'; readonly reason: string; readonly recordId: string }
  /** The store could not take this operation; nothing of it was written. */
  | { readonly kind: 'failed'; readonly error: EngineError }
  /** The call had done enough before this operation's turn; it is to be sent again. */
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

/** A hint that something changed. It is never the truth: whoever is woken looks for himself. */
export interface Wake {
  readonly partition: Partition
  /** Ready indexes that gained entries; undefined means that any may have. */
  readonly ready?: readonly string[] | undefined
  /** The earliest timer that was set. */
  readonly dueAt?: Instant | undefined
  /** Whether the event log grew. */
  readonly hasEvents: boolean
  /** By what it grew; undefined means that nobody says, and that whoever follows the log has to read it. */
  readonly growth?: LogGrowth | undefined
  /** Executions whose holders have something to hear, such as a wish to cancel; undefined means that any may have. */
  readonly holdersOf?: readonly ExecutionId[] | undefined
}

/** The events that a write has added to the log of its partition. */
export interface LogGrowth {
  /** The numbers of the first and the last of them. */
  readonly first: number
  readonly last: number
  /** When they happened: all at one moment. */
  readonly at: Instant
  /** The executions and flows whose end is among them. */
  readonly ended: readonly string[]
}

/** What a listener wants to be told of, so that a store can spare it everything else. */
export interface WakeInterest {
  /** The growth of this partition's event log. Left out: work that became ready, timers, and news for holders, anywhere. */
  readonly eventsOf?: Partition | undefined
}

/** Fixed when the store is first used, the same for everyone who uses it. */
export interface StoreSettings {
  readonly executionPartitions: number
  /** Names of tags by which executions are listed from an index of their own. */
  readonly indexedTags: readonly string[]
}

/** What an operator wants to know of a store. */
export interface StoreReport {
  readonly kind: string
  readonly version: string
  readonly location: string
  readonly durability: string
  readonly warnings: readonly string[]
  /** Keys that a dump walks past, where a store cannot tell its own from those of others. */
  readonly keyCount?: number | undefined
}

/** Everything in a partition, for tests that prove invariants. */
export interface PartitionDump {
  readonly records: readonly AnyRecord[]
  readonly entries: readonly IndexEntry[]
  readonly blobKeys: readonly string[]
  readonly events: readonly StoredEvent[]
}

/**
 * A transaction that somebody else has begun in the database of the store and will end: a `pg` client, or anything that
 * runs its statements.
 */
export interface TransactionHandle {
  readonly query: (text: string, values: unknown[]) => Promise<unknown>
}

/** Hears the answer to one of the calls, counted from 0. */
export type AnswerListener = (call: number, answer: Answer) => void

export interface Store {
  readonly settings: StoreSettings
  /** Batches of one partition that may be under way at once. Left out, two: one being run, one on its way. */
  readonly batchesAtOnce?: number | undefined
  /**
   * Batches of all partitions that keep the store busy. While so many are under way, a batch that is not full waits for
   * one of them to return. Left out, a batch waits only for those of its own partition.
   */
  readonly busyBatches?: number | undefined
  /** Whether other processes keep changing what batches of a partition read: such batches had better not be under way side by side. */
  isContended?(partition: Partition): boolean
  /**
   * Runs operations in order, each as if alone, in one step. Answers come in the order of the calls. A store that has to run
   * some of them again may tell the answers of the others before.
   */
  run(partition: Partition, calls: readonly Call[], onAnswer?: AnswerListener): Promise<Answer[]>
  /**
   * Leaves a submit in somebody's transaction: it is run soon after the commit, and never if there is none. Whatever the
   * transaction throws is thrown as it is. Only a store whose database programs have transactions of their own in has it.
   */
  stage?(tx: TransactionHandle, partition: Partition, call: Call<'createExecution'>): Promise<void>
  readEvents(partition: Partition, after: number, limit: number): Promise<EventPage>
  /** Drops events that are older than an instant or beyond a count. Says how many. */
  trimEvents(partition: Partition, olderThan: Instant, keepCount: number): Promise<number>
  /** The interest is a hint too: a listener may hear of more than it wants. */
  onWake(listener: (wake: Wake) => void, interest?: WakeInterest): () => void
  report(): Promise<StoreReport>
  dump(partition: Partition): Promise<PartitionDump>
  close(): Promise<void>
}
