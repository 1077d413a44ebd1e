/** Reports the work of a scanner as metrics, as log lines and as a status. */
import type { Instant } from '../../kernel/index.ts'
import { errorFields } from '../../runtime/index.ts'
import type { Log } from '../../runtime/index.ts'
import { EngineError } from '../../kernel/engine-error.ts'
import type { CallHealth } from '../../stores/store-health.ts'
import type { Partition } from '../../stores/store.ts'
import type { Metrics } from '../../runtime/metrics.ts'
import type { PartitionPass } from './partition-pass.ts'
import type { Scanner } from './scanner.ts'
import { backoffItems, cycleDuration, cyclesTotal, errorsTotal, itemsTotal, lagSeconds } from './scanner-metrics.ts'

/** A cycle, including the visits since the previous cycle. */
export interface CycleReport {
  readonly startedAt: Instant
  readonly elapsedMs: number
  readonly processed: number
  readonly errors: number
}

/** The work since the last cycle ended. */
interface Tally {
  readonly counts: Record<string, number>
  processed: number
  errors: number
  /** Errors that are an outage of the store, which is logged elsewhere. */
  unanswered: number
  lagMs: number | undefined
}

function emptyTally(): Tally {
  return { counts: {}, processed: 0, errors: 0, unanswered: 0, lagMs: undefined }
}

export class ScanReport {
  readonly #scanner: Pick<Scanner, 'name' | 'counters' | 'backlog'>
  readonly #labels: { readonly scanner: string }
  readonly #log: Log
  readonly #metrics: Metrics
  readonly #health: CallHealth
  /** Partitions whose latest pass failed as a whole. */
  readonly #failing = new Set<Partition>()
  /** The depths that partitions reported since the last cycle ended. */
  readonly #depths = new Map<Partition, number>()
  #tally = emptyTally()
  #cycleCount = 0
  #errorCount = 0
  #lastCycle: CycleReport | undefined
  readonly #totals: Record<string, number> = {}
  #foundAt: Instant | undefined

  constructor(scanner: Pick<Scanner, 'name' | 'counters' | 'backlog'>, log: Log, metrics: Metrics, health: CallHealth) {
    this.#health = health
    this.#scanner = scanner
    this.#labels = { scanner: scanner.name }
    this.#log = log
    this.#metrics = metrics
  }

  get cycleCount(): number {
    return this.#cycleCount
  }

  get errorCount(): number {
    return this.#errorCount
  }

  get lastCycle(): CycleReport | undefined {
    return this.#lastCycle
  }

  /** What the scanner has found and done since it was created, by case. */
  get totals(): Readonly<Record<string, number>> {
    return { ...this.#totals }
  }

  /** When the latest cycle that found something began. */
  get foundAt(): Instant | undefined {
    return this.#foundAt
  }

  add(partition: Partition, pass: PartitionPass<unknown>): void {
    for (const [name, count] of Object.entries(pass.counts)) {
      if (count === 0) continue
      this.#tally.counts[name] = (this.#tally.counts[name] ?? 0) + count
      this.#totals[name] = (this.#totals[name] ?? 0) + count
      this.#metrics.add(itemsTotal, { ...this.#labels, case: name }, count)
      const own = this.#scanner.counters[name]
      if (own !== undefined) this.#metrics.add(own.counter, own.labels, count)
    }
    if (pass.errors > 0) this.#metrics.add(errorsTotal, this.#labels, pass.errors)
    this.#errorCount += pass.errors
    this.#tally.processed += pass.processed
    this.#tally.errors += pass.errors
    if (isOutage(pass.failure)) this.#tally.unanswered += 1
    if (pass.lagMs !== undefined) this.#tally.lagMs = Math.max(this.#tally.lagMs ?? 0, pass.lagMs)
    if (pass.depth !== undefined && pass.failure === undefined) this.#depths.set(partition, pass.depth)
    this.#noteFailure(partition, pass.failure)
  }

  /** `included` are the partitions that belong to the cycle. */
  endCycle(startedAt: Instant, elapsedMs: number, backoffCount: number, included: readonly Partition[]): void {
    const { processed, errors, lagMs } = this.#tally
    this.#cycleCount += 1
    if (processed > 0) this.#foundAt = startedAt
    this.#lastCycle = { startedAt, elapsedMs: Math.round(elapsedMs), processed, errors }
    this.#metrics.add(cyclesTotal, this.#labels)
    this.#metrics.observe(cycleDuration, this.#labels, elapsedMs / 1_000)
    this.#metrics.set(backoffItems, this.#labels, backoffCount)
    if (lagMs !== undefined) this.#metrics.set(lagSeconds, this.#labels, lagMs / 1_000)
    this.#showBacklog(included)
    this.logWork({ elapsedMs: Math.round(elapsedMs) })
  }

  /** Skips incomplete sums: a missing partition would look like a shrinking backlog. */
  #showBacklog(included: readonly Partition[]): void {
    const { backlog } = this.#scanner
    const depths = included.flatMap((partition) => this.#depths.get(partition) ?? [])
    if (backlog !== undefined && depths.length === included.length) {
      const depth = depths.reduce((sum, one) => sum + one, 0)
      this.#metrics.set(backlog, {}, depth)
    }
    this.#depths.clear()
  }

  /** Logs one line for the work since the last line, or none if there was no work. */
  logWork(fields: { readonly elapsedMs?: number } = {}): void {
    const { counts, processed, errors, unanswered } = this.#tally
    this.#tally = emptyTally()
    if (processed === 0 && errors === unanswered) return
    this.#log.info({ processed, errors, ...counts, ...fields }, 'scanned')
  }

  /**
   * Logs when a partition starts to fail and when it recovers, not in every cycle between. An outage of the store concerns
   * all scanners and partitions, and is logged once for all of them.
   */
  #noteFailure(partition: Partition, failure: { readonly cause: unknown } | undefined): void {
    if (failure === undefined) {
      this.#health.answered(partition)
      if (this.#failing.delete(partition)) this.#log.info({ partition }, 'partition recovered; it can be scanned again')
      return
    }
    if (isOutage(failure)) {
      this.#health.failed(partition, failure.cause)
      return
    }
    if (this.#failing.has(partition)) return
    this.#failing.add(partition)
    const fields = { partition, ...errorFields(failure.cause) }
    if (failure.cause instanceof EngineError)
      this.#log.warn(fields, 'could not scan a partition; retrying in the next cycle')
    else this.#log.error(fields, 'unexpected error in scanner; retrying the partition in the next cycle')
  }
}

function isOutage(failure: { readonly cause: unknown } | undefined): boolean {
  return failure?.cause instanceof EngineError && failure.cause.isRetryable
}
