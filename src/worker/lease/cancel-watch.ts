/**
 * Brings news of held executions, such as a wish to cancel, faster than their next renewal does. A wake-up from this
 * process names the executions that it concerns, which costs nothing until one is held here. A wake-up from elsewhere
 * names none: then what has been held for a while is read, not written, and only so often.
 */
import type { Runtime, Timer } from '../../runtime/index.ts'
import type { Batcher } from '../../stores/batcher.ts'
import type { Wake } from '../../stores/store.ts'
import type { LeasedExecution } from './leased-execution.ts'
import type { LeaseKeeper } from './lease-keeper.ts'
import type { StoreHealth } from '../store/store-health.ts'

/** Between two looks at what is held, however often others change the store. */
const CHECK_INTERVAL_MS = 150

export class CancelWatch {
  readonly #batcher: Batcher
  readonly #runtime: Runtime
  readonly #keeper: LeaseKeeper
  readonly #health: StoreHealth
  #timer: Timer | undefined
  #checkedAt = -Infinity

  constructor(batcher: Batcher, runtime: Runtime, keeper: LeaseKeeper, health: StoreHealth) {
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

  /** Most of what was just claimed is gone before the next look, and costs none if it is left for that one. */
  #checkAll(): void {
    this.#timer = undefined
    const now = this.#runtime.monotonic()
    this.#checkedAt = now
    let isAnyYoung = false
    for (const leased of this.#keeper) {
      if (now - leased.claimedAt < CHECK_INTERVAL_MS) isAnyYoung = true
      else if (!leased.isRenewing && !leased.isSettling && leased.pendingCancel === undefined) void this.#check(leased)
    }
    if (isAnyYoung) this.#scheduleCheck()
  }

  /** What is not as it was is asked for by a renewal, whose answer counts. */
  async #check(leased: LeasedExecution): Promise<void> {
    try {
      const { result } = await this.#batcher.run(leased.partition, 'describeExecution', { executionId: leased.id })
      this.#health.answered()
      if (result.kind === 'described') {
        const { state, epoch } = result.execution
        if (state.phase === 'active' && epoch === leased.claimed.fence.epoch && state.cancel === undefined) return
      }
      await this.#keeper.renew(leased)
    } catch (error) {
      this.#health.failed(error)
    }
  }
}
