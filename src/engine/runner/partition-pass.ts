/** Runs one pass of a scanner over one partition: step by step to the end or to its bound. Skips items that fail. */
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
  /** The cursor at which the previous pass stopped. */
  readonly from: Cursor | undefined
  /** The number of examined items after which the pass stops. */
  readonly examinedMax: number
  readonly runtime: Runtime
  readonly log: Log
  readonly signal: AbortSignal
}

export interface PartitionPass<Cursor> {
  readonly counts: Record<string, number>
  processed: number
  errors: number
  /** The largest lag of an item; undefined if the scanner does not report it. */
  lagMs: number | undefined
  /** The remaining backlog of the partition; undefined if the scanner does not report it. */
  depth: number | undefined
  /** The cursor for the next pass; undefined to start from the beginning. */
  next: Cursor | undefined
  /** True if the pass stopped at its bound and another pass can make progress now. */
  hasMore: boolean
  nextDueAt: Instant | undefined
  at: Instant | undefined
  /** The error that ended the pass, unless it concerned a single item. */
  failure: { readonly cause: unknown } | undefined
}

export async function passOver<Cursor>(
  scanner: Scanner<string, Cursor>,
  input: PassInput<Cursor>,
): Promise<PartitionPass<Cursor>> {
  const afterwards: (() => Promise<void>)[] = []
  const { pass, isWhole } = await takeSteps(scanner, input, afterwards)
  const ends = await Promise.allSettled(afterwards.map((work) => work()))
  for (const end of ends) {
    if (end.status === 'fulfilled') continue
    pass.errors += 1
    if (!isOfItem(end.reason, input, [])) pass.failure ??= { cause: end.reason }
  }
  if (isWhole) input.tracker.forgetRecovered(input.partition.name)
  return pass
}

interface Steps<Cursor> {
  readonly pass: PartitionPass<Cursor>
  /** Whether they have covered the partition from its beginning to its end. */
  readonly isWhole: boolean
}

async function takeSteps<Cursor>(
  scanner: Scanner<string, Cursor>,
  input: PassInput<Cursor>,
  afterwards: (() => Promise<void>)[],
): Promise<Steps<Cursor>> {
  const { partition, tracker, filter, from, examinedMax, runtime, log, signal } = input
  const pass = emptyPass(from)
  let hasAnswered = false
  let examined = 0
  for (let step = 0; step < scanner.stepsPerPass && examined < examinedMax && !signal.aborted; step++) {
    const skip = tracker.skipped(partition.name)
    let result: ScanResult<Cursor>
    try {
      result = await scanner.scan(partition, { filter, skip, from: pass.next, seed: randomSeed(runtime), log })
    } catch (error) {
      pass.errors += 1
      if (!isOfItem(error, input, skip)) return { pass: { ...pass, failure: { cause: error } }, isWhole: false }
      continue
    }
    hasAnswered = true
    examined += result.examined ?? 0
    take(pass, result)
    const { afterwards: later, items = [] } = result
    if (later === undefined) tracker.succeeded(partition.name, items)
    else {
      afterwards.push(async () => {
        await later()
        tracker.succeeded(partition.name, items)
      })
    }
    if (result.next === undefined) return { pass, isWhole: from === undefined }
  }
  // A step that returned made progress. So did a step that failed on an item, as long as the tracker has room for it.
  return { pass: { ...pass, hasMore: hasAnswered || !tracker.isFull }, isWhole: false }
}

/** Whether the error names an item, which is then skipped until the next cycle. One that fails although it was to be skipped blocks the pass. */
function isOfItem<Cursor>(
  error: unknown,
  { partition, tracker, log }: PassInput<Cursor>,
  skip: readonly string[],
): boolean {
  const item = itemAtFault(error)
  if (item === undefined || skip.includes(item)) return false
  log.debug(
    { partition: partition.name, item, error: String(error) },
    'could not process an item; skipping it until the next cycle',
  )
  tracker.failed(partition.name, item)
  return true
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

/** The item that an error names, so that the pass can skip it and process the others. */
function itemAtFault(error: unknown): string | undefined {
  if (!(error instanceof EngineError)) return undefined
  return error.code === 'corruption' ? error.detail.field : error.detail.executionId
}
