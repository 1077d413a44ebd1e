/**
 * Detects cancel requests for leased executions before their next renewal. A wake-up from this process names the executions,
 * so only those are renewed. A wake-up from another process names none, so leased executions are read, at a bounded rate.
 */
import type { Runtime, Timer } from '../../runtime/index.ts'
import type { Batcher } from '../../stores/batcher.ts'
import type { Wake } from '../../stores/store.ts'
import type { LeasedExecution } from './leased-execution.ts'
import type { LeaseKeeper } from './lease-keeper.ts'
import type { CallHealth } from '../../stores/store-health.ts'

/** Minimum time between two checks of all leased executions, however many wake-ups arrive. */
const CHECK_INTERVAL_MS = 150

export class CancelWatch {
  readonly #batcher: Batcher
  readonly #runtime: Runtime
  readonly #keeper: LeaseKeeper
  readonly #health: CallHealth
  #timer: Timer | undefined
  #checkedAt = -Infinity

  constructor(batcher: Batcher, runtime: Runtime, keeper: LeaseKeeper, health: CallHealth) {
    this.#batcher = batcher
    this.#runtime = runtime
    this.#keeper = keeper
    this.#health = health
  }

  onWake(wake: Wake): void {
    if (this.#keeper.size === 0) return
    if (wake.holdersOf === undefined) {
      if (wake.hasEvents) this.#scheduleCheck()
      return
    }
    for (const id of wake.holdersOf) {
      const leased = this.#keeper.get(id)
      if (leased !== undefined) void this.#keeper.renew(leased)
    }
  }

  close(): void {
    this.#timer?.cancel()
    this.#timer = undefined
  }

  #scheduleCheck(): void {
    if (this.#timer !== undefined) return
    const waitMs = Math.max(0, this.#checkedAt + CHECK_INTERVAL_MS - this.#runtime.monotonic())
    this.#timer = this.#runtime.after(waitMs, () => this.#checkAll(), { background: true })
  }

  /** Leaves recent claims to the next check: most of them have ended by then and cost no read. */
  #checkAll(): void {
    this.#timer = undefined
    const now = this.#runtime.monotonic()
    this.#checkedAt = now
    let hasRecent = false
    for (const leased of this.#keeper) {
      if (now - leased.claimedAt < CHECK_INTERVAL_MS) hasRecent = true
      else if (!leased.isRenewing && !leased.isSettling && leased.pendingCancel === undefined) void this.#check(leased)
    }
    if (hasRecent) this.#scheduleCheck()
  }

  /** Reads one execution, and renews its lease if the record has changed. The reply to the renewal decides. */
  async #check(leased: LeasedExecution): Promise<void> {
    try {
      const { result } = await this.#batcher.run(leased.partition, 'describeExecution', { executionId: leased.id })
      this.#health.answered(leased.partition)
      if (result.kind === 'described') {
        const { state, epoch } = result.execution
        if (state.phase === 'active' && epoch === leased.claimed.fence.epoch && state.cancel === undefined) return
      }
      await this.#keeper.renew(leased)
    } catch (error) {
      this.#health.failed(leased.partition, error)
    }
  }
}
