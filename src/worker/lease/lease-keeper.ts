/**
 * Keeps the leases of one worker alive: one timer for all of them, renewals that are due together sent together, at most
 * one under way for each execution. A lease that cannot be confirmed in time counts as lost, whatever the store thinks.
 */
import type { ExecutionId } from '../../kernel/index.ts'
import type { Runtime, Timer } from '../../runtime/index.ts'
import type { Batcher } from '../../stores/batcher.ts'
import type { HeldExecution, LeaseLoss } from './leased-execution.ts'
import type { StoreHealth } from '../store/store-health.ts'

export interface LeaseListener {
  readonly onLost: (held: HeldExecution) => void
  readonly onCancelWished: (held: HeldExecution) => void
  readonly onTimedOut: (held: HeldExecution) => void
}

/** Renewals due within this part of a lease's time go together. */
const TOGETHER_PART = 1 / 20
/** After a renewal that the store failed, the next follows in this part of a lease's time. */
const RETRY_PART = 1 / 12

export class LeaseKeeper implements Iterable<HeldExecution> {
  readonly #batcher: Batcher
  readonly #runtime: Runtime
  readonly #leaseTtlMs: number
  readonly #health: StoreHealth
  readonly #listener: LeaseListener
  readonly #held = new Map<ExecutionId, HeldExecution>()
  #timer: Timer | undefined
  #armedFor = Infinity

  constructor(batcher: Batcher, runtime: Runtime, leaseTtlMs: number, health: StoreHealth, listener: LeaseListener) {
    this.#batcher = batcher
    this.#runtime = runtime
    this.#leaseTtlMs = leaseTtlMs
    this.#health = health
    this.#listener = listener
  }

  get size(): number {
    return this.#held.size
  }

  [Symbol.iterator](): Iterator<HeldExecution> {
    return this.#held.values()
  }

  get(id: ExecutionId): HeldExecution | undefined {
    return this.#held.get(id)
  }

  /**
   * What comes back before its loss was noticed, as after a step of the store's clock, was lost all the same. What was
   * parked may be back before the answer that parked it has been read: that answer says so itself.
   */
  add(held: HeldExecution): void {
    const former = this.#held.get(held.id)
    if (former !== undefined && !former.isParking) this.lose(former, 'stale_lease')
    this.#held.set(held.id, held)
    this.#arm(Math.min(held.renewAt, held.recountAt, held.endsAt))
  }

  /** The handler begins: the time that it waited for a slot is not its own. */
  begin(held: HeldExecution): void {
    const isNews = held.begin(this.#runtime.monotonic())
    this.#arm(held.endsAt)
    if (isNews) void this.renew(held)
  }

  /** An execution that was lost may have come back under a new lease: that one stays. */
  remove(held: HeldExecution): void {
    if (this.#held.get(held.id) === held) this.#held.delete(held.id)
  }

  /** Whether the lease is certain to last a while. One that is not is lost now. */
  isSafe(held: HeldExecution): boolean {
    if (this.#runtime.monotonic() >= held.lostAt) this.lose(held, 'lease_expired')
    return held.refusal === undefined
  }

  /** The lease is gone for good. */
  lose(held: HeldExecution, code: LeaseLoss): void {
    const isNews = this.#isKept(held)
    this.remove(held)
    held.lose(code)
    if (isNews) this.#listener.onLost(held)
  }

  close(): void {
    this.#held.clear()
    this.#timer?.cancel()
    this.#armedFor = Infinity
  }

  /** Renews now, which also tells whether a cancel is wished and whether the lease still stands. */
  async renew(held: HeldExecution): Promise<void> {
    if (held.isRenewing || !this.#isKept(held)) return
    held.isRenewing = true
    const sentAt = this.#runtime.monotonic()
    const { beginsNow } = held
    held.beginsNow = false
    try {
      const input = { executionId: held.id, fence: held.claimed.fence, leaseTtlMs: this.#leaseTtlMs, beginsNow }
      const { result } = await this.#batcher.run(held.partition, 'renewLease', input)
      this.#health.answered()
      if (!this.#isKept(held)) return
      if (result.kind === 'refused') {
        if (!held.isSettling && !held.isParking) this.lose(held, result.code)
        return
      }
      held.confirmUntil(sentAt + result.expiresAt - result.at)
      if (result.cancel !== undefined && held.wishCancel(result.cancel)) this.#listener.onCancelWished(held)
    } catch (error) {
      this.#health.failed(error)
      held.isUncertain = true
      held.beginsNow ||= beginsNow
      held.renewAt = this.#runtime.monotonic() + this.#leaseTtlMs * RETRY_PART
    } finally {
      held.isRenewing = false
      // A handler that began while this was under way is told of by another one, at once.
      const isNews = held.beginsNow && !held.isUncertain
      if (this.#isKept(held)) this.#arm(isNews ? sentAt : Math.min(held.renewAt, held.lostAt))
    }
  }

  #isKept(held: HeldExecution): boolean {
    return this.#held.get(held.id) === held
  }

  /** The timer stands at the earliest moment that matters to any lease. Later ones find it armed and cost nothing. */
  #arm(at: number): void {
    if (at >= this.#armedFor) return
    this.#timer?.cancel()
    this.#armedFor = at
    const waitMs = Math.max(1, Math.ceil(at - this.#runtime.monotonic()))
    this.#timer = this.#runtime.after(waitMs, () => this.#attendAll(), { background: true })
  }

  #attendAll(): void {
    this.#armedFor = Infinity
    const now = this.#runtime.monotonic()
    let next = Infinity
    for (const held of [...this.#held.values()]) next = Math.min(next, this.#attend(held, now))
    if (next !== Infinity) this.#arm(next)
  }

  /** Does what is due for one lease and says when to look again. */
  #attend(held: HeldExecution, now: number): number {
    if (now >= held.lostAt) {
      this.lose(held, 'lease_expired')
      return Infinity
    }
    if (now >= held.recountAt && !held.isSettling) {
      held.countFrom(now)
      held.beginsNow = true
    }
    if (now >= held.endsAt && !held.isTimedOut && !held.isSettling) {
      held.timeOut()
      this.#listener.onTimedOut(held)
    }
    if (held.beginsNow || now >= held.renewAt - this.#leaseTtlMs * TOGETHER_PART) void this.renew(held)
    const endsAt = held.isTimedOut || held.isSettling ? Infinity : Math.min(held.recountAt, held.endsAt)
    return Math.min(endsAt, held.lostAt, held.isRenewing ? Infinity : held.renewAt)
  }
}
