/**
 * Drives one scanner over the partitions of its families. A *cycle* visits every partition, once per interval; if the scanner is
 * divided, those of its engine's share. Partitions
 * of limits and of the store are quiet: mostly nothing happens there, so few cycles visit them. Between two
 * cycles a partition is visited when one of its timers is due, or when its work exceeded the bound of one pass. Any number
 * of runners may share a store: each operation re-checks the item that it changes.
 */
import type { Instant, PartitionFamily, TenantFilter } from '../../kernel/index.ts'
import type { Log, Runtime } from '../../runtime/index.ts'
import type { Batcher } from '../../stores/batcher.ts'
import { ADMISSION_LEVEL } from '../../stores/level/store-level.ts'
import { familyOf, partitionsOf } from '../../stores/partitions.ts'
import { keepNewest } from '../../stores/keep-newest.ts'
import { copyLane } from '../../stores/lane-copy.ts'
import { executionPartition } from '../../stores/store.ts'
import type { Partition, Wake } from '../../stores/store.ts'
import { deliverWakes, wakeBlocked } from '../../stores/deliver-wakes.ts'
import { sweepWorker } from '../../stores/worker-sweep.ts'
import type { Duties } from './duties.ts'
import { FailureTracker } from './failure-tracker.ts'
import type { Metrics } from '../../runtime/metrics.ts'
import { passOver } from './partition-pass.ts'
import type { PartitionPass } from './partition-pass.ts'
import { ScanReport } from './scan-report.ts'
import type { CycleReport } from './scan-report.ts'
import { Schedule, isQuiet } from './schedule.ts'
import type { ScannedPartition, Scanner } from './scanner.ts'
import { Visits } from './visits.ts'
import { WalkPace } from './walk-pace.ts'

/** The delay of a visit after a wake-up that does not name its change. It coalesces bursts of such wake-ups. */
export const UNKNOWN_CHANGE_MS = 100
/** The same for a quiet partition. */
const UNKNOWN_QUIET_CHANGE_MS = 1_000

export interface RunnerOptions {
  readonly batcher: Batcher
  readonly runtime: Runtime
  readonly log: Log
  readonly metrics: Metrics
  readonly filter?: TenantFilter | undefined
  /** The partitions of this engine, for a divided scanner; all partitions unless given. */
  readonly duties?: Pick<Duties, 'holds'> | undefined
}

export interface RunnerStatus {
  readonly cycleCount: number
  readonly lastCycle: CycleReport | undefined
  /** What it has found and done since it was created, by case. */
  readonly counts: Readonly<Record<string, number>>
  /** When the latest cycle that found something began. */
  readonly foundAt: Instant | undefined
  readonly nextRunAt: Instant
  /** Since the runner was created. */
  readonly errorCount: number
  readonly backoffCount: number
}

export class Runner<Cursor> {
  readonly name: string
  readonly #scanner: Scanner<string, Cursor>
  readonly #batcher: Batcher
  readonly #runtime: Runtime
  readonly #log: Log
  readonly #filter: TenantFilter | undefined
  readonly #duties: Pick<Duties, 'holds'> | undefined
  readonly #partitions: ReadonlyMap<Partition, ScannedPartition>
  readonly #schedule: Schedule
  readonly #tracker: FailureTracker
  readonly #report: ScanReport
  readonly #pace: WalkPace
  /** The cursor for the next pass over each partition. */
  readonly #cursors = new Map<Partition, Cursor>()
  /** Partitions whose latest pass has failed as a whole. */
  readonly #failed = new Set<Partition>()
  #rest: { readonly until: number; readonly end: () => void } | undefined
  #isInCycle = false
  #bug: { readonly cause: unknown } | undefined

  constructor(scanner: Scanner<string, Cursor>, options: RunnerOptions) {
    const { batcher, runtime, log, metrics } = options
    this.name = scanner.name
    this.#scanner = scanner
    this.#pace = new WalkPace(scanner, batcher.store.settings.executionPartitions)
    this.#batcher = batcher
    this.#runtime = runtime
    this.#log = scannerLog(log, scanner.name)
    this.#filter = options.filter
    this.#duties = scanner.isDivided ? options.duties : undefined
    this.#partitions = scannedPartitions(batcher, scanner.families)
    // A random start spreads the cycles of engines that start together. Timers that are due already do not wait.
    const firstCycleInMs = scanner.followsTimers ? 0 : scanner.everyMs * runtime.random()
    this.#schedule = new Schedule(runtime, scanner.everyMs, [...this.#partitions.keys()], firstCycleInMs)
    this.#tracker = new FailureTracker(this.#log)
    this.#report = new ScanReport(scanner, this.#log, metrics, batcher.health.loggedTo(log))
  }

  /** Runs until the signal aborts. Contains errors of scans; throws only on a bug of the runner. */
  async run(signal: AbortSignal): Promise<void> {
    const stopListening = this.#listen()
    const visits = new Visits({
      visit: (partition) => this.#visit(partition, signal),
      hasFailed: (partition) => this.#failed.has(partition),
      onEnd: (partition, isWanted) => {
        if (isWanted) this.#schedule.visitIn(partition, 0)
        this.#endRestEarly()
      },
    })
    this.#isInCycle = false
    try {
      await this.#restUntilNext(signal)
      while (!signal.aborted && this.#bug === undefined) {
        this.#pass(visits, signal)
        await this.#restUntilNext(signal)
      }
      await visits.end()
      const bug = this.#bug
      this.#bug = undefined
      if (bug !== undefined) throw bug.cause
      this.#report.logWork()
    } finally {
      stopListening()
    }
  }

  status(): RunnerStatus {
    const restMs = Math.max(0, this.#schedule.nextAt - this.#runtime.monotonic())
    return {
      cycleCount: this.#report.cycleCount,
      lastCycle: this.#report.lastCycle,
      counts: this.#report.totals,
      foundAt: this.#report.foundAt,
      nextRunAt: this.#runtime.now() + Math.ceil(restMs),
      errorCount: this.#report.errorCount,
      backoffCount: this.#tracker.backoffCount,
    }
  }

  /** Begins the visits that are due, and does not wait for their end: other partitions may be due before. */
  #pass(visits: Visits, signal: AbortSignal): void {
    const startedAt = this.#runtime.now()
    const start = this.#runtime.monotonic()
    const includes = (partition: Partition) => this.#includes(partition)
    const { isCycle, partitions } = this.#schedule.begin(includes, this.#isInCycle)
    if (isCycle) this.#tracker.beginCycle()
    const ended = visits.all(partitions)
    this.#schedule.end()
    if (!isCycle) {
      ended.catch((error: unknown) => this.#stopFor(error))
      return
    }
    this.#isInCycle = true
    const endCycle = () => {
      this.#isInCycle = false
      this.#schedule.endCycle()
      this.#endRestEarly()
      // An aborted cycle has not visited every partition, so it is not reported.
      if (signal.aborted) return
      const included = [...this.#partitions.keys()].filter(includes)
      this.#report.endCycle(startedAt, this.#runtime.monotonic() - start, this.#tracker.backoffCount, included)
    }
    ended.then(endCycle).catch((error: unknown) => this.#stopFor(error))
  }

  /** Ends the run with an error, which is a bug of the runner. */
  #stopFor(cause: unknown): void {
    this.#bug ??= { cause }
    this.#rest?.end()
  }

  /** Whether a cycle visits the partition. */
  #includes(partition: Partition): boolean {
    if (this.#duties === undefined) return true
    const isFirst = this.#scanner.followsTimers && this.#report.cycleCount === 0
    return isFirst || this.#duties.holds(partition)
  }

  async #visit(name: Partition, signal: AbortSignal): Promise<void> {
    const partition = this.#partitions.get(name)
    if (partition === undefined || !this.#hasFamily(partition)) return
    const pass = await passOver(this.#scanner, {
      partition,
      tracker: this.#tracker,
      filter: this.#filter,
      from: this.#cursors.get(name),
      examinedMax: this.#pace.examinedMax(name),
      runtime: this.#runtime,
      log: this.#log,
      signal,
    })
    if (pass.next === undefined) this.#cursors.delete(name)
    else this.#cursors.set(name, pass.next)
    if (pass.failure === undefined) this.#failed.delete(name)
    else this.#failed.add(name)
    this.#pace.add(name, pass)
    this.#plan(name, pass)
    this.#report.add(name, pass)
  }

  /** A store of the first level has execution partitions only. */
  #hasFamily({ family }: ScannedPartition): boolean {
    return family === 'fp' || this.#batcher.store.level >= ADMISSION_LEVEL
  }

  /** Schedules the next visit. A partition that failed as a whole waits for the next cycle. */
  #plan(name: Partition, pass: PartitionPass<Cursor>): void {
    if (pass.at !== undefined) this.#schedule.readClock(pass.at)
    if (pass.hasMore && this.#scanner.continues === 'at_once') this.#schedule.visitIn(name, 0)
    if (pass.nextDueAt !== undefined && this.#scanner.followsTimers) this.#schedule.visitAt(name, pass.nextDueAt)
  }

  #listen(): () => void {
    if (!this.#scanner.followsTimers) return () => undefined
    return this.#batcher.store.onWake((wake) => this.#onWake(wake))
  }

  #onWake(wake: Wake): void {
    if (!this.#partitions.has(wake.partition)) return
    if (wake.dueAt !== undefined) this.#schedule.visitAt(wake.partition, wake.dueAt)
    else if (wake.ready === undefined) {
      this.#schedule.visitIn(wake.partition, isQuiet(wake.partition) ? UNKNOWN_QUIET_CHANGE_MS : UNKNOWN_CHANGE_MS)
    }
    this.#endRestEarly()
  }

  #endRestEarly(): void {
    if (this.#rest !== undefined && this.#schedule.nextAt < this.#rest.until) this.#rest.end()
  }

  async #restUntilNext(signal: AbortSignal): Promise<void> {
    while (!signal.aborted && this.#bug === undefined && this.#schedule.nextAt > this.#runtime.monotonic()) {
      await this.#restUntil(this.#schedule.nextAt, signal)
    }
  }

  #restUntil(until: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const end = () => {
        timer.cancel()
        signal.removeEventListener('abort', end)
        this.#rest = undefined
        resolve()
      }
      const timer = this.#runtime.after(Math.ceil(until - this.#runtime.monotonic()), end)
      signal.addEventListener('abort', end, { once: true })
      this.#rest = { until, end }
    })
  }
}

function scannedPartitions(batcher: Batcher, families: readonly PartitionFamily[]): Map<Partition, ScannedPartition> {
  const partitions = new Map<Partition, ScannedPartition>()
  for (const name of partitionsOf(batcher.store.settings, families)) {
    partitions.set(name, {
      name,
      family: familyOf(name),
      executionPartitions: batcher.store.settings.executionPartitions,
      run: async (operation, input) => (await batcher.run(name, operation, input)).result,
      runAt: async (number, operation, input) =>
        (await batcher.run(executionPartition(number), operation, input)).result,
      sweepWorker: (worker) => sweepWorker(batcher, worker),
      copyLane: (lane) => copyLane(batcher, lane),
      deliverWakes: (limit, wakes) => deliverWakes(batcher, limit, wakes),
      wakeBlocked: (limit) => wakeBlocked(batcher, limit),
      keepNewest: () => keepNewest(batcher),
      trimEvents: (olderThan, keepCount) => batcher.store.trimEvents(name, olderThan, keepCount),
    })
  }
  return partitions
}

/** Adds the name of the scanner to every line. */
function scannerLog(log: Log, scanner: string): Log {
  return {
    debug: (fields, message) => log.debug({ scanner, ...fields }, message),
    info: (fields, message) => log.info({ scanner, ...fields }, message),
    warn: (fields, message) => log.warn({ scanner, ...fields }, message),
    error: (fields, message) => log.error({ scanner, ...fields }, message),
  }
}
