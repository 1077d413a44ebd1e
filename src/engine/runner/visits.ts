/**
 * Visits partitions concurrently, each at most once at a time. A partition that answers slowly or has much to do delays no other,
 * unless so many do that all places are taken. Those that have failed before take only some of the places: a server that is down has
 * many partitions, and each of them may be waited for.
 */
import type { Partition } from '../../stores/store.ts'

/** The most partitions that one scanner visits concurrently. */
export const PARTITIONS_AT_ONCE = 8
/** The same for partitions whose latest visit has failed. */
const FAILED_AT_ONCE = PARTITIONS_AT_ONCE / 2

interface VisitsOptions {
  readonly visit: (partition: Partition) => Promise<void>
  /** Whether the latest visit of a partition has failed. */
  readonly hasFailed: (partition: Partition) => boolean
  /** Called after each visit. `isWanted`: the partition was to be visited again meanwhile. */
  readonly onEnd: (partition: Partition, isWanted: boolean) => void
}

interface Entry {
  readonly done: Promise<void>
  isWanted: boolean
}

interface Waiting {
  readonly hasFailed: boolean
  readonly begin: () => void
  readonly drop: () => void
}

export class Visits {
  readonly #options: VisitsOptions
  readonly #active = new Map<Partition, Entry>()
  readonly #waiting: Waiting[] = []
  #running = 0
  /** How many of those that run had failed before. */
  #failedBefore = 0

  constructor(options: VisitsOptions) {
    this.#options = options
  }

  /** Visits partitions that are not being visited, and resolves when all of these visits are over. The others are visited again. */
  async all(partitions: readonly Partition[]): Promise<void> {
    const begun: Promise<void>[] = []
    for (const partition of partitions) {
      const active = this.#active.get(partition)
      if (active === undefined) begun.push(this.#begin(partition))
      else active.isWanted = true
    }
    await Promise.all(begun)
  }

  /** Drops the visits that have not begun, and waits for the others. */
  async end(): Promise<void> {
    for (const { drop } of this.#waiting.splice(0)) drop()
    await Promise.all([...this.#active.values()].map(({ done }) => done))
  }

  #begin(partition: Partition): Promise<void> {
    const done = this.#run(partition)
    this.#active.set(partition, { done, isWanted: false })
    return done
  }

  async #run(partition: Partition): Promise<void> {
    const hasFailed = this.#options.hasFailed(partition)
    const isDropped = await this.#place(hasFailed)
    try {
      if (!isDropped) await this.#options.visit(partition)
    } finally {
      const isWanted = this.#active.get(partition)?.isWanted === true
      this.#active.delete(partition)
      if (!isDropped) {
        this.#leave(hasFailed)
        this.#options.onEnd(partition, isWanted)
      }
    }
  }

  /** Waits for a free place. Returns whether the visit is dropped instead. */
  #place(hasFailed: boolean): Promise<boolean> {
    if (this.#isFreeFor(hasFailed)) {
      this.#take(hasFailed)
      return Promise.resolve(false)
    }
    return new Promise((resolve) => {
      this.#waiting.push({ hasFailed, begin: () => resolve(false), drop: () => resolve(true) })
    })
  }

  #isFreeFor(hasFailed: boolean): boolean {
    return this.#running < PARTITIONS_AT_ONCE && (!hasFailed || this.#failedBefore < FAILED_AT_ONCE)
  }

  #take(hasFailed: boolean): void {
    this.#running += 1
    if (hasFailed) this.#failedBefore += 1
  }

  #leave(hasFailed: boolean): void {
    this.#running -= 1
    if (hasFailed) this.#failedBefore -= 1
    const place = this.#waiting.findIndex((waiting) => this.#isFreeFor(waiting.hasFailed))
    const [next] = place === -1 ? [] : this.#waiting.splice(place, 1)
    if (next === undefined) return
    this.#take(next.hasFailed)
    next.begin()
  }
}
