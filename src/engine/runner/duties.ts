/**
 * Keeps the share of an engine: the partitions that this engine examines, while other engines examine the others. A share saves
 * reads and protects nothing, because every operation re-checks what it changes. Without a valid share an engine examines every
 * partition: before the first answer, on a store of a lower level, or if the store does not answer for longer than the share.
 */
import { DUTY_TTL_MS } from '../../kernel/index.ts'
import { endWithin, errorFields, sleep } from '../../runtime/index.ts'
import type { Log, Runtime } from '../../runtime/index.ts'
import type { Batcher } from '../../stores/batcher.ts'
import { ADMISSION_LEVEL } from '../../stores/level/store-level.ts'
import { STORE_PARTITION, allPartitions } from '../../stores/partitions.ts'
import { isTransient } from '../../stores/store-health.ts'
import type { CallHealth } from '../../stores/store-health.ts'
import type { Partition } from '../../stores/store.ts'
import type { Metrics } from '../../runtime/metrics.ts'
import { partitionsHeld } from './scanner-metrics.ts'
import type { Task } from './supervisor.ts'

/** Two renewals may fail before the share expires. */
const RENEWALS_PER_TTL = 3
/** The least interval of renewals. */
export const RENEW_EVERY_MS = DUTY_TTL_MS / RENEWALS_PER_TTL
/**
 * An engine without partitions, because the store has fewer of them than engines, looks seldom for one that became free. Such a look
 * writes nothing. If an engine with a share vanishes, the other engines with shares divide its partitions. So a look matters only
 * once all of them have vanished.
 */
export const RENEWALS_PER_LOOK = 9
/** How long a closing engine tries to give its share back. */
const LEAVE_LIMIT_MS = 1_000

export interface DutiesOptions {
  readonly batcher: Batcher
  readonly runtime: Runtime
  readonly log: Log
  readonly metrics: Metrics
  /** The shortest interval of the scanners: a share that is renewed more often than it is used saves nothing. */
  readonly shortestMs?: number | undefined
}

export class Duties implements Task {
  readonly name = 'duties'
  readonly #batcher: Batcher
  readonly #runtime: Runtime
  readonly #log: Log
  readonly #metrics: Metrics
  readonly #health: CallHealth
  readonly #engineId: string
  readonly #partitions: readonly Partition[]
  readonly #renewEveryMs: number
  /** `askAt` and `until` are instants of the monotonic clock. */
  #share: { readonly partitions: ReadonlySet<string>; readonly askAt: number; readonly until: number } | undefined
  #isRenewing = false
  #isFailing = false

  constructor({ batcher, runtime, log, metrics, shortestMs = 0 }: DutiesOptions) {
    this.#renewEveryMs = Math.max(RENEW_EVERY_MS, shortestMs)
    this.#batcher = batcher
    this.#runtime = runtime
    this.#log = log
    this.#metrics = metrics
    this.#health = batcher.health.loggedTo(log)
    this.#engineId = runtime.uuid()
    this.#partitions = allPartitions(batcher.store.settings)
  }

  /** Whether this engine examines the partition in its cycles. */
  holds(partition: Partition): boolean {
    const share = this.#share
    return share === undefined || this.#runtime.monotonic() >= share.until || share.partitions.has(partition)
  }

  /** Renews until the signal aborts, then gives the share back. A call that is not answered does not delay the end. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      // A call that has failed is repeated at the next turn, because it has set no later time.
      if (this.#runtime.monotonic() >= (this.#share?.askAt ?? 0)) void this.#renew()
      await sleep(this.#runtime, this.#renewEveryMs, signal)
    }
    if (this.#share === undefined) return
    await endWithin(this.#runtime, LEAVE_LIMIT_MS, this.#leave())
  }

  async #renew(): Promise<void> {
    if (this.#isRenewing || this.#batcher.store.level < ADMISSION_LEVEL) return
    this.#isRenewing = true
    const sentAt = this.#runtime.monotonic()
    const ttlMs = RENEWALS_PER_TTL * this.#renewEveryMs
    try {
      const input = { engineId: this.#engineId, ttlMs, partitions: this.#partitions }
      const { result } = await this.#batcher.run(STORE_PARTITION, 'renewDuties', input)
      const partitions = new Set(result.partitions)
      const restsMs = partitions.size === 0 ? RENEWALS_PER_LOOK * this.#renewEveryMs : 0
      this.#share = { partitions, askAt: sentAt + restsMs, until: sentAt + restsMs + ttlMs }
      this.#health.answered(STORE_PARTITION)
      this.#isFailing = false
    } catch (error) {
      this.#noteFailure(error)
    } finally {
      this.#isRenewing = false
    }
    this.#metrics.set(partitionsHeld, {}, this.#partitions.filter((partition) => this.holds(partition)).length)
  }

  /** An outage of the store is logged for all callers together, any other failure once until a renewal succeeds. */
  #noteFailure(error: unknown): void {
    if (isTransient(error)) this.#health.failed(STORE_PARTITION, error)
    else if (!this.#isFailing) {
      this.#isFailing = true
      this.#log.warn(
        errorFields(error),
        'could not renew the share of partitions; examining all of them until it succeeds',
      )
    }
  }

  async #leave(): Promise<void> {
    try {
      await this.#batcher.run(STORE_PARTITION, 'leaveDuties', { engineId: this.#engineId })
    } catch (error) {
      this.#log.debug(errorFields(error), 'could not give the share of partitions back; it expires by itself')
    }
  }
}
