/**
 * Renews the leases of one worker. One timer serves all leases; renewals due at about the same time share a batch; at most one
 * renewal per execution is pending. A lease that is not confirmed in time counts as lost, whatever its state in the store.
 */
import type { ExecutionId, Unwinding } from '../../kernel/index.ts'
import { ChurnMap } from '../../runtime/index.ts'
import type { Runtime, Timer } from '../../runtime/index.ts'
import type { Batcher } from '../../stores/batcher.ts'
import { leaseRenewals } from '../metrics/worker-metrics.ts'
import type { LeaseLoss, LeasedExecution } from './leased-execution.ts'
import type { CallHealth } from '../../stores/store-health.ts'

export interface LeaseListener {
  readonly onLost: (leased: LeasedExecution) => void
  readonly onCancelRequested: (leased: LeasedExecution) => void
  readonly onTimedOut: (leased: LeasedExecution) => void
}

/** Renewals due within this fraction of the TTL are coalesced. */
const COALESCE_FRACTION = 1 / 20
/** A failed renewal is retried after this fraction of the TTL. */
const RETRY_FRACTION = 1 / 12

export class LeaseKeeper implements Iterable<LeasedExecution> {
  readonly #batcher: Batcher
  readonly #runtime: Runtime
  readonly #leaseTtlMs: number
  readonly #health: CallHealth
  readonly #listener: LeaseListener
  readonly #leased = new ChurnMap<ExecutionId, LeasedExecution>()
  #timer: Timer | undefined
  #armedFor = Infinity

  constructor(batcher: Batcher, runtime: Runtime, leaseTtlMs: number, health: CallHealth, listener: LeaseListener) {
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
   * Adds a lease. If the same execution is still tracked under an older lease, that lease is lost: the store's clock may have
   * jumped. An execution may be claimed again, by a wait that is over, a retry or a follow-up, before the reply to the call that
   * parked it or reported its outcome arrives; that reply ends the old run.
   */
  add(leased: LeasedExecution): void {
    const former = this.#leased.get(leased.id)
    if (former !== undefined && !former.isParking && !former.isSettling) this.lose(former, 'stale_lease')
    this.#leased.set(leased.id, leased)
    this.#arm(Math.min(leased.renewAt, leased.recountAt, leased.endsAt))
  }

  /** Marks the handler as started. The wait for a slot does not count towards the attempt timeout. */
  begin(leased: LeasedExecution): void {
    const isLate = leased.begin(this.#runtime.monotonic())
    this.#arm(leased.endsAt)
    if (isLate) void this.renew(leased)
  }

  /** Lets a run whose failure is final undo its steps. */
  unwind(leased: LeasedExecution, unwinding: Unwinding): void {
    leased.unwind(unwinding, this.#runtime.monotonic())
    this.#arm(leased.endsAt)
  }

  /** Removes this lease, but not a newer lease of the same execution. */
  remove(leased: LeasedExecution): void {
    if (this.#leased.get(leased.id) === leased) this.#leased.delete(leased.id)
  }

  /** Returns whether the lease is valid. Marks it as lost if its expiry is too close. */
  ensureLease(leased: LeasedExecution): boolean {
    if (this.#runtime.monotonic() >= leased.lostAt) this.lose(leased, 'lease_expired')
    return leased.refusal === undefined
  }

  /** Marks a lease as lost and notifies the listener once. */
  lose(leased: LeasedExecution, code: LeaseLoss): void {
    const wasTracked = this.#isTracked(leased)
    this.remove(leased)
    leased.lose(code)
    if (wasTracked) this.#listener.onLost(leased)
  }

  close(): void {
    this.#leased.clear()
    this.#timer?.cancel()
    this.#armedFor = Infinity
  }

  /** Renews a lease now. The reply also delivers a cancel request, or reports that the lease is lost. */
  async renew(leased: LeasedExecution): Promise<void> {
    if (leased.isRenewing || !this.#isTracked(leased)) return
    leased.isRenewing = true
    const sentAt = this.#runtime.monotonic()
    const { beginsNow } = leased
    leased.beginsNow = false
    try {
      const input = { executionId: leased.id, fence: leased.claimed.fence, leaseTtlMs: this.#leaseTtlMs, beginsNow }
      const { result } = await this.#batcher.run(leased.partition, 'renewLease', input)
      this.#health.answered(leased.partition)
      this.#batcher.metrics.add(leaseRenewals, { result: result.kind })
      if (!this.#isTracked(leased)) return
      if (result.kind === 'refused') {
        if (!leased.isSettling && !leased.isParking) this.lose(leased, result.code)
        return
      }
      leased.confirmUntil(sentAt + result.expiresAt - result.at)
      if (result.cancel !== undefined && leased.requestCancel(result.cancel)) this.#listener.onCancelRequested(leased)
    } catch (error) {
      this.#health.failed(leased.partition, error)
      this.#batcher.metrics.add(leaseRenewals, { result: 'unanswered' })
      leased.isUncertain = true
      leased.beginsNow ||= beginsNow
      leased.renewAt = this.#runtime.monotonic() + this.#leaseTtlMs * RETRY_FRACTION
    } finally {
      leased.isRenewing = false
      // A handler that started while the renewal was pending needs another renewal, at once.
      const mustRepeat = leased.beginsNow && !leased.isUncertain
      if (this.#isTracked(leased)) this.#arm(mustRepeat ? sentAt : Math.min(leased.renewAt, leased.lostAt))
    }
  }

  #isTracked(leased: LeasedExecution): boolean {
    return this.#leased.get(leased.id) === leased
  }

  /** Keeps the timer at the earliest due time of all leases. A later time is a no-op. */
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

  /** Handles what is due for one lease. Returns when to check it again. */
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
