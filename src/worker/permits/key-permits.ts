/** The permits of one key of a limit that this worker holds, and what it knows of the key. */
import { SPARE_PERMIT_SHARE } from '../../kernel/index.ts'
import type { ExecutionId, Instant, LimitCause, TakeAnswer } from '../../kernel/index.ts'
import type { Partition } from '../../stores/store.ts'
import type { LeasedExecution } from '../lease/leased-execution.ts'

/** A permit that was taken for this worker. It belongs to one execution at a time, or is free. */
export interface Permit {
  readonly key: KeyPermits
  readonly weight: number
  /** The store's instant of its admission, which identifies its weight in the window. */
  readonly takenAt: Instant
  /** When it was taken, on the monotonic clock. */
  readonly takenOn: number
  /** Permits of an earlier generation have lapsed. */
  readonly generation: number
  /** Its only execution, if that gives way to later ones. */
  readonly of: ExecutionId | undefined
  /** Something was started with it, so that its weight is not given back. */
  isUsed: boolean
  /** The execution that holds it. */
  user: LeasedExecution | undefined
  /** Its place among the permits of the key that executions hold. */
  place: number
}

/** The length of the windows in which uses are counted. */
const USE_WINDOW_MS = 100

export class KeyPermits {
  readonly limit: string
  readonly key: string
  /** The partition of the limit. */
  readonly partition: Partition
  /** Permits that belong to no execution. */
  readonly free: Permit[] = []
  /** No free permit was taken before, on the monotonic clock. */
  freeSince = Infinity
  /**
   * Permits that executions hold, also those that have lapsed meanwhile, in no order. An array, because the tables of a Set that
   * lives long would keep the executions that have left it.
   */
  readonly #used: Permit[] = []
  /** Permits that the store counts for this worker: used, free, and lent to pending claims. */
  held = 0
  /** The lowest number since the oldest pending renewal was sent. */
  lowHeld = 0
  /** Renewals without an answer. */
  renewingCount = 0
  /** Returns without an answer, and those that wait for a round. */
  returningCount = 0
  /** Counts the requests and returns that began. */
  changeCount = 0
  /** Permits lent to pending claims. */
  lentCount = 0
  /** Permits under way for work to come. */
  stockedCount = 0
  /** Until then, on the monotonic clock, the permits are valid for certain. */
  lostAt = -Infinity
  generation = 0
  /** A handler of this worker holds the key back until then, on the monotonic clock. */
  heldUntil = -Infinity
  /** The limit has no rate, so one permit may serve one execution after the other. */
  isReusable = false
  /** Work waits for permits, so none is kept without use. */
  isContended = false
  /** How many permits others hardly miss: a share of the room that was left with the last answer. */
  ample = 0
  /** Before that, on the monotonic clock, there is hardly room for more work to come. */
  stockFrom = -Infinity
  /** Why there was no permit, the last time. */
  cause: LimitCause = 'concurrency'
  /** Requests without an answer. */
  askedCount = 0
  /** The weight that was asked for last. What the rate has counted before weighs nothing, and does not count. */
  weight = 0
  #windowBeganAt = -Infinity
  #before = 0
  #uses = 0

  constructor(limit: string, key: string, partition: Partition) {
    this.limit = limit
    this.key = key
    this.partition = partition
  }

  /** Whether nothing needs to be remembered of the key. */
  get isIdle(): boolean {
    return this.held === 0 && this.askedCount === 0 && this.#used.length === 0
  }

  /** The permits that executions hold. */
  get used(): readonly Permit[] {
    return this.#used
  }

  /** An execution holds a permit from now on. */
  use(permit: Permit, user: LeasedExecution): void {
    permit.user = user
    permit.place = this.#used.push(permit) - 1
  }

  /** An execution holds a permit no more. */
  leave(permit: Permit): void {
    const last = this.#used.pop()
    if (last !== undefined && last !== permit) {
      last.place = permit.place
      this.#used[permit.place] = last
    }
    permit.user = undefined
  }

  /** Returns a free permit of a weight. */
  take(weight: number, now: number): Permit | undefined {
    if (!this.isUsable(now)) return undefined
    const at = weight === 0 ? this.free.length - 1 : this.free.findIndex((permit) => permit.weight === weight)
    return at === -1 ? undefined : this.free.splice(at, 1)[0]
  }

  /** Adds a permit that belongs to no execution. */
  putFree(permit: Permit): void {
    this.free.push(permit)
    this.freeSince = Math.min(this.freeSince, permit.takenOn)
  }

  /** Removes the free permits that are not to be kept, and returns them. */
  dropFree(isKept: (permit: Permit) => boolean): Permit[] {
    const dropped: Permit[] = []
    let keptCount = 0
    this.freeSince = Infinity
    for (const permit of this.free) {
      if (isKept(permit)) {
        this.free[keptCount++] = permit
        this.freeSince = Math.min(this.freeSince, permit.takenOn)
      } else dropped.push(permit)
    }
    this.free.length = keptCount
    return dropped
  }

  /** Whether free permits may start something. */
  isUsable(now: number): boolean {
    return now < this.lostAt && now >= this.heldUntil
  }

  /** Nothing is under way, so that the store counts what this worker counts. */
  get isQuiet(): boolean {
    return this.askedCount === 0 && this.returningCount === 0
  }

  lower(count: number): void {
    this.held = Math.max(0, this.held - count)
    this.lowHeld = Math.min(this.lowHeld, this.held)
  }

  /** All permits have lapsed, or may have. */
  lapse(): void {
    this.generation += 1
    this.held = 0
    this.lowHeld = 0
    this.free.length = 0
    this.lostAt = -Infinity
  }

  noteWeight(weight: number): void {
    if (weight > 0) this.weight = weight
  }

  /** Notes how much room an answer has left, and whether it granted less than what was asked for. */
  noteRoom({ next }: TakeAnswer, isShort: boolean, now: number): void {
    this.ample = next?.afterMs === 0 ? Math.floor(next.permits / SPARE_PERMIT_SHARE) : 0
    if (isShort) this.stockFrom = now + USE_WINDOW_MS
  }

  noteUse(now: number): void {
    this.#rotate(now)
    this.#uses += 1
  }

  /** How many permits were used in the last moments. */
  recentUses(now: number): number {
    this.#rotate(now)
    return this.#before + this.#uses
  }

  #rotate(now: number): void {
    const windows = Math.floor((now - this.#windowBeganAt) / USE_WINDOW_MS)
    if (windows < 1) return
    this.#before = windows === 1 ? this.#uses : 0
    this.#uses = 0
    this.#windowBeganAt = now
  }
}
