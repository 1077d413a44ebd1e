/**
 * Keeps the leases of one worker alive: one timer for all of them, renewals that are due together sent together, at most
 * one under way for each execution. A lease that cannot be confirmed in time counts as lost, whatever the store thinks.
 */
import type { ExecutionId } from '../../kernel/index.ts'
import type { Runtime, Timer } from '../../runtime/index.ts'
import type { Batcher } from '../../stores/batcher.ts'
import type { LeaseLoss, LeasedExecution } from './leased-execution.ts'
import type { StoreHealth } from '../store/store-health.ts'

export interface LeaseListener {
  readonly onLost: (leased: LeasedExecution) => void
  readonly onCancelRequested: (leased: LeasedExecution) => void
  readonly onTimedOut: (leased: LeasedExecution) => void
}

/** Renewals due within this part of a lease's time go together. */
const COALESCE_FRACTION = 1 / 20
/** After a renewal that the store failed, the next follows in this part of a lease's time. */
const RETRY_FRACTION = 1 / 12

export class LeaseKeeper implements Iterable<LeasedExecution> {
  readonly #batcher: Batcher
  readonly #runtime: Runtime
  readonly #leaseTtlMs: number
  readonly #health: StoreHealth
  readonly #listener: LeaseListener
  readonly #leased = new Map<ExecutionId, LeasedExecution>()
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
    return this.#leased.size
  }

  [Symbol.iterator](): Iterator<LeasedExecution> {
    return this.#leased.values()
  }

  get(id: ExecutionId): LeasedExecution | undefined {
    return this.#leased.get(id)
  }

  /**
   * What comes back before its loss was noticed, as after a step of the store's clock, was lost all the same. What was
   * parked may be back before the answer that parked it has been read: that answer says so itself.
   */
  add(leased: LeasedExecution): void {
    const former = this.#leased.get(leased.id)
    if (former !== undefined && !former.isParking) this.lose(former, 'stale_lease')
    this.#leased.set(leased.id, leased)
    this.#arm(Math.min(leased.renewAt, leased.recountAt, leased.endsAt))
  }

  /** The handler begins: the time that it waited for a slot is not its own. */
  begin(leased: LeasedExecution): void {
    const isNews = leased.begin(this.#runtime.monotonic())
    this.#arm(leased.endsAt)
    if (isNews) void this.renew(leased)
  }

  /** An execution that was lost may have come back under a new lease: that one stays. */
  remove(leased: LeasedExecution): void {
    if (this.#leased.get(leased.id) === leased) this.#leased.delete(leased.id)
  }

  /** Whether the lease is certain to last a while. One that is not is lost now. */
  ensureLease(leased: LeasedExecution): boolean {
    if (this.#runtime.monotonic() >= leased.lostAt) this.lose(leased, 'lease_expired')
    return leased.refusal === undefined
  }

  /** The lease is gone for good. */
  lose(leased: LeasedExecution, code: LeaseLoss): void {
    const isNews = this.#isTracked(leased)
    this.remove(leased)
    leased.lose(code)
    if (isNews) this.#listener.onLost(leased)
  }

  close(): void {
    this.#leased.clear()
    this.#timer?.cancel()
    this.#armedFor = Infinity
  }

  /** Renews now, which also tells whether a cancel is wished and whether the lease still stands. */
  async renew(leased: LeasedExecution): Promise<void> {
    if (leased.isRenewing || !this.#isTracked(leased)) return
    leased.isRenewing = true
    const sentAt = this.#runtime.monotonic()
    const { beginsNow } = leased
    leased.beginsNow = false
    try {
      const input = { executionId: leased.id, fence: leased.claimed.fence, leaseTtlMs: this.#leaseTtlMs, beginsNow }
      const { result } = await this.#batcher.run(leased.partition, 'renewLease', input)
      this.#health.answered()
      if (!this.#isTracked(leased)) return
      if (result.kind === 'refused') {
        if (!leased.isSettling && !leased.isParking) this.lose(leased, result.code)
        return
      }
      leased.confirmUntil(sentAt + result.expiresAt - result.at)
      if (result.cancel !== undefined && leased.requestCancel(result.cancel)) this.#listener.onCancelRequested(leased)
    } catch (error) {
      this.#health.failed(error)
      leased.isUncertain = true
      leased.beginsNow ||= beginsNow
      leased.renewAt = this.#runtime.monotonic() + this.#leaseTtlMs * RETRY_FRACTION
    } finally {
      leased.isRenewing = false
      // A handler that began while this was under way is told of by another one, at once.
      const isNews = leased.beginsNow && !leased.isUncertain
      if (this.#isTracked(leased)) this.#arm(isNews ? sentAt : Math.min(leased.renewAt, leased.lostAt))
    }
  }

  #isTracked(leased: LeasedExecution): boolean {
    return this.#leased.get(leased.id) === leased
  }

  /** The timer stands at the earliest moment that matters to any lease. Later ones find it armed and cost nothing. */
  #arm(at: number): void {
    if (at >= this.#armedFor) return
    this.#timer?.cancel()
    this.#armedFor = at
    const waitMs = Math.max(1, Math.ceil(at - this.#runtime.monotonic()))
    this.#timer = this.#runtime.after(waitMs, () => this.#checkAll(), { background: true })
  }

  #checkAll(): void {
    this.#armedFor = Infinity
    const now = this.#runtime.monotonic()
    let next = Infinity
    for (const leased of [...this.#leased.values()]) next = Math.min(next, this.#check(leased, now))
    if (next !== Infinity) this.#arm(next)
  }

  /** Does what is due for one lease and says when to look again. */
  #check(leased: LeasedExecution, now: number): number {
    if (now >= leased.lostAt) {
      this.lose(leased, 'lease_expired')
      return Infinity
    }
    if (now >= leased.recountAt && !leased.isSettling) {
      leased.countFrom(now)
      leased.beginsNow = true
    }
    if (now >= leased.endsAt && !leased.isTimedOut && !leased.isSettling) {
      leased.timeOut()
      this.#listener.onTimedOut(leased)
    }
    if (leased.beginsNow || now >= leased.renewAt - this.#leaseTtlMs * COALESCE_FRACTION) void this.renew(leased)
    const endsAt = leased.isTimedOut || leased.isSettling ? Infinity : Math.min(leased.recountAt, leased.endsAt)
    return Math.min(endsAt, leased.lostAt, leased.isRenewing ? Infinity : leased.renewAt)
  }
}
