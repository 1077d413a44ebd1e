/**
 * What a scanner is: a name, an interval, and one step that sees to what it finds in one partition. Everything else
 * (partitions, pacing, loops, failures, metrics) is the runner's.
 */
import type { Instant, OperationInput, OperationName, OperationResult, TenantFilter } from '../../kernel/index.ts'
import type { Log } from '../../runtime/index.ts'
import type { Partition } from '../../stores/store.ts'
import type { Counter, Gauge, Labels } from './metrics.ts'

/** A partition as a scanner sees it. */
export interface ScannedPartition {
  readonly name: Partition
  run<N extends OperationName>(operation: N, input: OperationInput<N>): Promise<OperationResult<N>>
  trimEvents(olderThan: Instant, keepCount: number): Promise<number>
}

export interface ScanContext<Cursor> {
  /** Whose executions may be touched; undefined means everyone's. */
  readonly filter: TenantFilter | undefined
  /** Items that are left alone for now. */
  readonly skip: readonly string[]
  /** Where the step before this one stopped. */
  readonly from: Cursor | undefined
  /** For operations that need chance. */
  readonly seed: number
  readonly log: Log
}

export interface ScanResult<Cursor> {
  /** What was done, counted by case. */
  readonly counts: Readonly<Record<string, number>>
  /** The items that were seen to: whatever failed with them before is over. */
  readonly items?: readonly string[] | undefined
  /** How many items were looked at, for a scanner that bounds them. */
  readonly examined?: number | undefined
  /** Where to go on, if there is more to look at. */
  readonly next?: Cursor | undefined
  /** When the next item of the partition is due, by the store's clock. */
  readonly nextDueAt?: Instant | undefined
  /** The store's clock. */
  readonly at?: Instant | undefined
  /** How late the oldest item was when it was seen to. */
  readonly lagMs?: number | undefined
  /** How much is left in the partition, for a scanner that shows its backlog. */
  readonly depth?: number | undefined
}

/** Where a case is counted besides in the metric that all scanners share. */
export interface CaseCounter {
  readonly counter: Counter
  readonly labels: Labels
}

export interface Scanner<Name extends string = string, Cursor = unknown> {
  readonly name: Name
  /** The period of a full pass over all partitions. Zero switches the scanner off. */
  readonly everyMs: number
  /** Whether it also comes between its passes, whenever a timer of a partition runs out. Its first pass is at once. */
  readonly followsTimers: boolean
  /** When it goes on with a partition that had more than fits one pass. */
  readonly goesOn: 'at_once' | 'next_cycle'
  /** Steps that one pass makes in one partition. */
  readonly stepsPerPass: number
  /** Items after which a pass stops in one partition. */
  readonly examinedPerPass: number
  /** Cases that are also counted under a name of their own. */
  readonly counters: Readonly<Record<string, CaseCounter>>
  /** Shows the depths of all partitions together: once a cycle, and only if every partition has told its own in it. */
  readonly backlog: Gauge | undefined
  /** One step in one partition. What it throws is counted against the item that the error names, else the partition. */
  readonly scan: (partition: ScannedPartition, context: ScanContext<Cursor>) => Promise<ScanResult<Cursor>>
}

const STEPS_PER_PASS = 50

type Optional = 'followsTimers' | 'goesOn' | 'stepsPerPass' | 'examinedPerPass' | 'counters' | 'backlog'
type ScannerDefinition<Name extends string, Cursor> = Omit<Scanner<Name, Cursor>, Optional> &
  Partial<Pick<Scanner<Name, Cursor>, Optional>>

export function scanner<Name extends string, Cursor>(
  definition: ScannerDefinition<Name, Cursor>,
): Scanner<Name, Cursor> {
  return {
    followsTimers: false,
    goesOn: 'at_once',
    stepsPerPass: STEPS_PER_PASS,
    examinedPerPass: Infinity,
    counters: {},
    backlog: undefined,
    ...definition,
  }
}

/** How often each case stands in a list. */
export function countCases(cases: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const name of cases) counts[name] = (counts[name] ?? 0) + 1
  return counts
}
