/**
 * Defines a scanner: a name, an interval, and one step that processes one partition. The runner does the rest: partitions,
 * pacing, loops, failures and metrics.
 */
import type {
  ExecutionId,
  Instant,
  KeyWake,
  Lane,
  OperationInput,
  OperationName,
  OperationResult,
  PartitionFamily,
  TenantFilter,
  UnsweptWorker,
} from '../../kernel/index.ts'
import type { Log } from '../../runtime/index.ts'
import type { Partition } from '../../stores/store.ts'
import type { Counter, Gauge, Labels } from '../../runtime/metrics.ts'

/** The operations of a partition that a scanner may use. */
export interface ScannedPartition {
  readonly name: Partition
  readonly family: PartitionFamily
  /** How many partitions of executions the store has. */
  readonly executionPartitions: number
  run<N extends OperationName>(operation: N, input: OperationInput<N>): Promise<OperationResult<N>>
  /** Runs an operation in the partition of executions with a number. */
  runAt<N extends OperationName>(number: number, operation: N, input: OperationInput<N>): Promise<OperationResult<N>>
  trimEvents(olderThan: Instant, keepCount: number): Promise<number>
  /** Revokes the leases of a worker in all partitions of executions. */
  sweepWorker(worker: UnsweptWorker): Promise<readonly ExecutionId[]>
  copyLane(lane: Lane): Promise<void>
  /** Opens the gates of keys of a limit or a budget, and confirms the wakes of a budget. */
  deliverWakes(limit: string, wakes: readonly KeyWake[]): Promise<void>
  /** Wakes the work of all keys of a limit or a budget that have room. */
  wakeBlocked(name: string): Promise<void>
  /** Removes ended executions beyond the number that their tasks keep, in all partitions of executions. */
  keepNewest(): Promise<readonly string[]>
}

export interface ScanContext<Cursor> {
  /** Restricts the step to executions that match; undefined matches all. */
  readonly filter: TenantFilter | undefined
  /** Items to skip: they failed recently. */
  readonly skip: readonly string[]
  /** The cursor that the previous step returned. */
  readonly from: Cursor | undefined
  /** The seed for operations that use randomness. */
  readonly seed: number
  readonly log: Log
}

export interface ScanResult<Cursor> {
  /** The number of processed items by case. */
  readonly counts: Readonly<Record<string, number>>
  /** The processed items. Their earlier failures are forgotten. */
  readonly items?: readonly string[] | undefined
  /** The number of examined items, for a scanner that bounds them. */
  readonly examined?: number | undefined
  /** The cursor for the next step; undefined if the partition is done. */
  readonly next?: Cursor | undefined
  /** When the next item of the partition is due, by the store's clock. */
  readonly nextDueAt?: Instant | undefined
  /** The store's clock. */
  readonly at?: Instant | undefined
  /** How late the oldest item was when it was processed. */
  readonly lagMs?: number | undefined
  /** The remaining backlog of the partition, for a scanner that reports it. */
  readonly depth?: number | undefined
  /** Work that can wait until the last step of the pass, so that it delays no item that is due. */
  readonly afterwards?: (() => Promise<void>) | undefined
}

/** An additional counter for a case, besides the metric that all scanners share. */
export interface CaseCounter {
  readonly counter: Counter
  readonly labels: Labels
}

export interface Scanner<Name extends string = string, Cursor = unknown> {
  readonly name: Name
  /** The families of partitions that it visits. */
  readonly families: readonly PartitionFamily[]
  /** The period of a full pass over all partitions. Zero disables the scanner. */
  readonly everyMs: number
  /**
   * Whether the engines of a store divide the partitions of a cycle. Visits that timers and wake-ups cause are not divided, and
   * neither is the first cycle of a scanner that follows timers, which learns them.
   */
  readonly isDivided: boolean
  /** Also visits a partition whenever one of its timers is due. The first pass starts immediately. */
  readonly followsTimers: boolean
  /** When a partition that exceeded the bounds of one pass is continued. */
  readonly continues: 'at_once' | 'next_cycle'
  /** The most steps of one pass in one partition. */
  readonly stepsPerPass: number
  /** The number of examined items after which a pass stops in one partition. */
  readonly examinedPerPass: number
  /**
   * The same for all partitions together, on average over time: a larger store is walked more slowly, not with more reads. A
   * partition whose latest walk has found nothing takes a tenth.
   */
  readonly examinedPerSecond: number
  /** Cases that also have a counter of their own. */
  readonly counters: Readonly<Record<string, CaseCounter>>
  /** Reports the summed depth of all partitions once a cycle, if every partition reported its depth in that cycle. */
  readonly backlog: Gauge | undefined
  /** Runs one step in one partition. An error counts against the item that it names, else against the partition. */
  readonly scan: (partition: ScannedPartition, context: ScanContext<Cursor>) => Promise<ScanResult<Cursor>>
}

const STEPS_PER_PASS = 50
/** Index entries or records that a reconciler examines in a second at most, in all partitions and by all engines. */
export const RECONCILED_PER_SECOND = 500
/** What is left of that rate in a partition that was found sound: damage is not expected, and an idle store is to be idle. */
export const SOUND_PARTITION_SHARE = 0.1

type Optional =
  | 'families'
  | 'isDivided'
  | 'examinedPerSecond'
  | 'followsTimers'
  | 'continues'
  | 'stepsPerPass'
  | 'examinedPerPass'
  | 'counters'
  | 'backlog'
type ScannerDefinition<Name extends string, Cursor> = Omit<Scanner<Name, Cursor>, Optional> &
  Partial<Pick<Scanner<Name, Cursor>, Optional>>

export function scanner<Name extends string, Cursor>(
  definition: ScannerDefinition<Name, Cursor>,
): Scanner<Name, Cursor> {
  return {
    families: ['fp'],
    isDivided: false,
    followsTimers: false,
    continues: 'at_once',
    stepsPerPass: STEPS_PER_PASS,
    examinedPerPass: Infinity,
    examinedPerSecond: Infinity,
    counters: {},
    backlog: undefined,
    ...definition,
  }
}

/** Counts how often each case occurs. */
export function countCases(cases: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const name of cases) counts[name] = (counts[name] ?? 0) + 1
  return counts
}
