/**
 * Schedules the visits of a scanner: all partitions once per interval, and a partition earlier when one of its timers is
 * due. Uses the monotonic clock, so that a step of the machine's clock neither stops a scanner nor makes it spin.
 */
import type { Instant } from '../../kernel/index.ts'
import type { Runtime } from '../../runtime/index.ts'
import { familyOf } from '../../stores/partitions.ts'
import type { Partition } from '../../stores/store.ts'

/** The jitter of the interval, to both sides, so that engines do not synchronize. */
export const INTERVAL_JITTER = 0.1
/** The least time between two passes, so that timers that are due shortly after each other share one pass. */
export const LEAST_PAUSE_MS = 5

/** How long a quiet partition is left alone by cycles. Its timers and wake-ups lead to visits in between. */
const QUIET_MS = 50_000

/** Whether a partition is one of limits or of the store as a whole. */
export function isQuiet(partition: Partition): boolean {
  return familyOf(partition) !== 'fp'
}

export interface Visit {
  /** True for a cycle, which visits every included partition that is not quiet. */
  readonly isCycle: boolean
  readonly partitions: readonly Partition[]
}

export class Schedule {
  readonly #runtime: Runtime
  readonly #everyMs: number
  readonly #partitions: readonly Partition[]
  readonly #planned = new Map<Partition, number>()
  /** When each quiet partition was last visited. */
  readonly #visitedAt = new Map<Partition, number>()
  #nextCycleAt: number
  /** Whether a cycle was due during the present one. */
  #isCycleOwed = false
  #notBefore: number
  #storeClock: { readonly at: Instant; readonly seenAt: number } | undefined

  constructor(runtime: Runtime, everyMs: number, partitions: readonly Partition[], firstCycleInMs: number) {
    this.#runtime = runtime
    this.#everyMs = everyMs
    this.#partitions = partitions
    this.#nextCycleAt = runtime.monotonic() + firstCycleInMs
    this.#notBefore = runtime.monotonic()
  }

  /** When the next pass starts. */
  get nextAt(): number {
    return Math.max(this.#notBefore, Math.min(this.#nextCycleAt, ...this.#planned.values()))
  }

  /**
   * Starts the pass that is due. Missed passes are coalesced into one. A cycle visits the partitions that are included. One that
   * would begin during another begins after it.
   */
  begin(isIncluded: (partition: Partition) => boolean = () => true, isDuringCycle = false): Visit {
    const now = this.#runtime.monotonic()
    const isCycleDue = now >= this.#nextCycleAt
    if (isCycleDue) {
      const jitter = 1 - INTERVAL_JITTER + 2 * INTERVAL_JITTER * this.#runtime.random()
      this.#nextCycleAt = now + this.#everyMs * jitter
    }
    if (isCycleDue && isDuringCycle) this.#isCycleOwed = true
    else if (isCycleDue) {
      return {
        isCycle: true,
        partitions: this.#take(now, (partition) => isIncluded(partition) && !this.#restsAt(now, partition)),
      }
    }
    return { isCycle: false, partitions: this.#take(now, () => false) }
  }

  /** Returns the partitions whose visit is planned for now, and others, in their order. */
  #take(now: number, isDue: (partition: Partition) => boolean): Partition[] {
    const taken = this.#partitions.filter(
      (partition) => (this.#planned.get(partition) ?? Infinity) <= now || isDue(partition),
    )
    for (const partition of taken) {
      this.#planned.delete(partition)
      if (isQuiet(partition)) this.#visitedAt.set(partition, now)
    }
    return taken
  }

  #restsAt(now: number, partition: Partition): boolean {
    return now - (this.#visitedAt.get(partition) ?? -Infinity) < QUIET_MS
  }

  end(): void {
    this.#notBefore = this.#runtime.monotonic() + LEAST_PAUSE_MS
  }

  /** Notes the end of a cycle. One that was due meanwhile begins now. */
  endCycle(): void {
    this.end()
    if (this.#isCycleOwed) this.#nextCycleAt = this.#runtime.monotonic()
    this.#isCycleOwed = false
  }

  /** Schedules a visit, unless an earlier one is scheduled. */
  visitIn(partition: Partition, ms: number): void {
    this.#plan(partition, this.#runtime.monotonic() + ms)
  }

  /** Schedules a visit at an instant of the store's clock, unless an earlier one is scheduled. */
  visitAt(partition: Partition, instant: Instant): void {
    const clock = this.#storeClock ?? { at: this.#runtime.now(), seenAt: this.#runtime.monotonic() }
    this.#plan(partition, clock.seenAt + (instant - clock.at))
  }

  /** Records the store's clock from a result that was just received. */
  readClock(at: Instant): void {
    this.#storeClock = { at, seenAt: this.#runtime.monotonic() }
  }

  #plan(partition: Partition, at: number): void {
    if (at < (this.#planned.get(partition) ?? Infinity)) this.#planned.set(partition, at)
  }
}
