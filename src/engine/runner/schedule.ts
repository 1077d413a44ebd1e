/**
 * When a scanner comes next: to all partitions once per interval, and earlier to one whose timer runs out. Plans are on
 * the monotonic clock, so that a step of the machine's clock neither stops a scanner nor lets it run wild.
 */
import type { Instant } from '../../kernel/index.ts'
import type { Runtime } from '../../runtime/index.ts'
import type { Partition } from '../../stores/store.ts'

/** Cycles are spread this far to both sides of the interval, so that engines do not fall into step. */
export const INTERVAL_JITTER = 0.1
/** Between two passes, so that timers which run out one after the other are seen to together. */
export const LEAST_PAUSE_MS = 5

export interface Visit {
  /** Whether this begins a new cycle, which looks at every partition. */
  readonly isCycle: boolean
  readonly partitions: readonly Partition[]
}

export class Schedule {
  readonly #runtime: Runtime
  readonly #everyMs: number
  readonly #partitions: readonly Partition[]
  readonly #planned = new Map<Partition, number>()
  #nextCycleAt: number
  #notBefore: number
  #storeClock: { readonly at: Instant; readonly seenAt: number } | undefined

  constructor(runtime: Runtime, everyMs: number, partitions: readonly Partition[], firstCycleInMs: number) {
    this.#runtime = runtime
    this.#everyMs = everyMs
    this.#partitions = partitions
    this.#nextCycleAt = runtime.monotonic() + firstCycleInMs
    this.#notBefore = runtime.monotonic()
  }

  /** When the next pass begins. */
  get nextAt(): number {
    return Math.max(this.#notBefore, Math.min(this.#nextCycleAt, ...this.#planned.values()))
  }

  /** Begins the pass whose time has come. However long the pass before took, this is one pass. */
  begin(): Visit {
    const now = this.#runtime.monotonic()
    if (now >= this.#nextCycleAt) {
      const jitter = 1 - INTERVAL_JITTER + 2 * INTERVAL_JITTER * this.#runtime.random()
      this.#nextCycleAt = now + this.#everyMs * jitter
      this.#planned.clear()
      return { isCycle: true, partitions: this.#partitions }
    }
    const partitions = this.#partitions.filter((partition) => (this.#planned.get(partition) ?? Infinity) <= now)
    for (const partition of partitions) this.#planned.delete(partition)
    return { isCycle: false, partitions }
  }

  end(): void {
    this.#notBefore = this.#runtime.monotonic() + LEAST_PAUSE_MS
  }

  /** Plans a visit, unless an earlier one is planned. */
  visitIn(partition: Partition, ms: number): void {
    this.#plan(partition, this.#runtime.monotonic() + ms)
  }

  /** The same for an instant of the store's clock, which need not be this machine's. */
  visitAt(partition: Partition, instant: Instant): void {
    const clock = this.#storeClock ?? { at: this.#runtime.now(), seenAt: this.#runtime.monotonic() }
    this.#plan(partition, clock.seenAt + (instant - clock.at))
  }

  /** Takes note of the store's clock as it was in an answer that has just come. */
  readClock(at: Instant): void {
    this.#storeClock = { at, seenAt: this.#runtime.monotonic() }
  }

  #plan(partition: Partition, at: number): void {
    if (at < (this.#planned.get(partition) ?? Infinity)) this.#planned.set(partition, at)
  }
}
