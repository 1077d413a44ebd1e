/** One scanner's pass over one partition: step by step to the end or to its bound, past items that fail. */
import type { Instant, TenantFilter } from '../../kernel/index.ts'
import { randomSeed } from '../../runtime/index.ts'
import type { Log, Runtime } from '../../runtime/index.ts'
import { EngineError } from '../../kernel/engine-error.ts'
import type { FailureTracker } from './failure-tracker.ts'
import type { ScanResult, ScannedPartition, Scanner } from './scanner.ts'

export interface PassInput<Cursor> {
  readonly partition: ScannedPartition
  readonly tracker: FailureTracker
  readonly filter: TenantFilter | undefined
  /** Where an earlier pass stopped. */
  readonly from: Cursor | undefined
  readonly runtime: Runtime
  readonly log: Log
  readonly signal: AbortSignal
}

export interface PartitionPass<Cursor> {
  readonly counts: Record<string, number>
  processed: number
  errors: number
  /** How late the latest item was; undefined if the scanner does not say. */
  lagMs: number | undefined
  /** How much is left in the partition; undefined if the scanner does not say. */
  depth: number | undefined
  /** Where the next pass goes on; undefined for the beginning. */
  next: Cursor | undefined
  /** Whether it stopped at its bound, and going on at once is worth it. */
  hasMore: boolean
  nextDueAt: Instant | undefined
  at: Instant | undefined
  /** What kept the pass from going on, if it was not a single item. */
  failure: { readonly cause: unknown } | undefined
}

export async function passOver<Cursor>(
  scanner: Scanner<string, Cursor>,
  { partition, tracker, filter, from, runtime, log, signal }: PassInput<Cursor>,
): Promise<PartitionPass<Cursor>> {
  const pass = emptyPass(from)
  let hasAnswered = false
  let examined = 0
  for (let step = 0; step < scanner.stepsPerPass && examined < scanner.examinedPerPass && !signal.aborted; step++) {
    const skip = tracker.skipped(partition.name)
    let result: ScanResult<Cursor>
    try {
      result = await scanner.scan(partition, { filter, skip, from: pass.next, seed: randomSeed(runtime), log })
    } catch (error) {
      pass.errors += 1
      const item = itemAtFault(error)
      // An item that fails although it was to be left out cannot be gone round.
      if (item === undefined || skip.includes(item)) return { ...pass, failure: { cause: error } }
      log.debug({ partition: partition.name, item, error: String(error) }, 'an item could not be seen to')
      tracker.failed(partition.name, item)
      continue
    }
    hasAnswered = true
    examined += result.examined ?? 0
    take(pass, result)
    tracker.succeeded(partition.name, result.items ?? [])
    if (result.next === undefined) {
      if (from === undefined) tracker.forgetRecovered(partition.name)
      return pass
    }
  }
  // A step that answered has moved on; so has one that failed over an item, as long as such items can be remembered.
  return { ...pass, hasMore: hasAnswered || !tracker.isFull }
}

function emptyPass<Cursor>(from: Cursor | undefined): PartitionPass<Cursor> {
  return {
    counts: {},
    processed: 0,
    errors: 0,
    lagMs: undefined,
    depth: undefined,
    next: from,
    hasMore: false,
    nextDueAt: undefined,
    at: undefined,
    failure: undefined,
  }
}

function take<Cursor>(pass: PartitionPass<Cursor>, result: ScanResult<Cursor>): void {
  for (const [name, count] of Object.entries(result.counts)) {
    pass.counts[name] = (pass.counts[name] ?? 0) + count
    pass.processed += count
  }
  if (result.lagMs !== undefined) pass.lagMs = Math.max(pass.lagMs ?? 0, result.lagMs)
  pass.depth = result.depth ?? pass.depth
  pass.at = result.at ?? pass.at
  pass.next = result.next
  pass.nextDueAt = result.nextDueAt
}

/** The one item that an error speaks of: then the others need not wait for it. */
function itemAtFault(error: unknown): string | undefined {
  if (!(error instanceof EngineError)) return undefined
  return error.code === 'corruption' ? error.detail.field : error.detail.executionId
}
