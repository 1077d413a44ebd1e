/**
 * Keeps an item that always fails from being retried in every pass. An item is tried once a cycle; after three consecutive
 * failures it is skipped for ten cycles, and then starts afresh. Kept in memory, bounded.
 */
import type { Log } from '../../runtime/index.ts'
import type { Partition } from '../../stores/store.ts'

export const FAILURES_BEFORE_BACKOFF = 3
export const BACKOFF_CYCLES = 10
/** The most tracked items; the item that failed longest ago is evicted first. */
export const TRACKED_ITEMS_MAX = 1_000

interface TrackedItem {
  readonly partition: Partition
  readonly item: string
  readonly failures: number
  readonly failedInCycle: number
  /** The first cycle in which the item is retried, once it has failed too often. */
  readonly triedAgainInCycle: number | undefined
}

export class FailureTracker {
  readonly #log: Log
  /** In the order of their latest failure. */
  readonly #items = new Map<string, TrackedItem>()
  #cycle = 0

  constructor(log: Log) {
    this.#log = log
  }

  /** Called by the runner once for each pass over all partitions. */
  beginCycle(): void {
    this.#cycle += 1
    for (const [key, tracked] of this.#items) {
      if (tracked.triedAgainInCycle !== undefined && tracked.triedAgainInCycle <= this.#cycle) this.#items.delete(key)
    }
  }

  failed(partition: Partition, item: string): void {
    const key = keyOf(partition, item)
    const failures = (this.#items.get(key)?.failures ?? 0) + 1
    const isTooOften = failures >= FAILURES_BEFORE_BACKOFF
    this.#items.delete(key)
    this.#items.set(key, {
      partition,
      item,
      failures,
      failedInCycle: this.#cycle,
      triedAgainInCycle: isTooOften ? this.#cycle + BACKOFF_CYCLES + 1 : undefined,
    })
    if (isTooOften) {
      this.#log.error(
        { partition, item, failures, backoffCycles: BACKOFF_CYCLES },
        'an item keeps failing; skipping it for several cycles',
      )
    }
    for (const oldest of this.#items.keys()) {
      if (this.#items.size <= TRACKED_ITEMS_MAX) break
      this.#items.delete(oldest)
    }
  }

  succeeded(partition: Partition, items: readonly string[]): void {
    if (this.#items.size === 0) return
    for (const item of items) this.#items.delete(keyOf(partition, item))
  }

  /** Forgets the items of a completely scanned partition that were tried and did not fail again. */
  forgetRecovered(partition: Partition): void {
    for (const [key, tracked] of this.#items) {
      if (tracked.partition === partition && !this.#isSkipped(tracked)) this.#items.delete(key)
    }
  }

  /** The items to skip now. */
  skipped(partition: Partition): string[] {
    const skipped: string[] = []
    for (const tracked of this.#items.values()) {
      if (tracked.partition === partition && this.#isSkipped(tracked)) skipped.push(tracked.item)
    }
    return skipped
  }

  get backoffCount(): number {
    let count = 0
    for (const tracked of this.#items.values()) if (tracked.triedAgainInCycle !== undefined) count += 1
    return count
  }

  get isFull(): boolean {
    return this.#items.size >= TRACKED_ITEMS_MAX
  }

  #isSkipped(tracked: TrackedItem): boolean {
    return tracked.triedAgainInCycle !== undefined || tracked.failedInCycle === this.#cycle
  }
}

function keyOf(partition: Partition, item: string): string {
  return `${partition} ${item}`
}
