/**
 * Brings news of held executions, such as a wish to cancel, faster than their next renewal does. A wake-up from this
 * process names the executions that it concerns, which costs nothing until one is held here. A wake-up from elsewhere
 * names none: then what has been held for a while is read, not written, and only so often.
 */
import type { Runtime, Timer } from '../../runtime/index.ts'
import type { Batcher } from '../../stores/batcher.ts'
import type { Wake } from '../../stores/store.ts'
import type { HeldExecution } from './leased-execution.ts'
import type { LeaseKeeper } from './lease-keeper.ts'
import type { StoreHealth } from '../store/store-health.ts'

/** Between two looks at what is held, however often others change the store. */
const LOOK_PAUSE_MS = 150

export class HolderWatch {
  readonly #batcher: Batcher
  readonly #runtime: Runtime
  readonly #keeper: LeaseKeeper
  readonly #health: StoreHealth
  #timer: Timer | undefined
  #lookedAt = -Infinity

  constructor(batcher: Batcher, runtime: Runtime, keeper: LeaseKeeper, health: StoreHealth) {
    this.#batcher = batcher
    this.#runtime = runtime
    this.#keeper = keeper
    this.#health = health
  }

  hear(wake: Wake): void {
    if (this.#keeper.size === 0) return
    if (wake.holdersOf === undefined) {
      if (wake.hasEvents) this.#lookSoon()
      return
    }
    for (const id of wake.holdersOf) {
      const held = this.#keeper.get(id)
      if (held !== undefined) void this.#keeper.renew(held)
    }
  }

  close(): void {
    this.#timer?.cancel()
    this.#timer = undefined
  }

  #lookSoon(): void {
    if (this.#timer !== undefined) return
    const waitMs = Math.max(0, this.#lookedAt + LOOK_PAUSE_MS - this.#runtime.monotonic())
    this.#timer = this.#runtime.after(waitMs, () => this.#lookAtAll(), { background: true })
  }

  /** Most of what was just claimed is gone before the next look, and costs none if it is left for that one. */
  #lookAtAll(): void {
    this.#timer = undefined
    const now = this.#runtime.monotonic()
    this.#lookedAt = now
    let isAnyYoung = false
    for (const held of this.#keeper) {
      if (now - held.takenAt < LOOK_PAUSE_MS) isAnyYoung = true
      else if (!held.isRenewing && !held.isSettling && held.cancelWish === undefined) void this.#look(held)
    }
    if (isAnyYoung) this.#lookSoon()
  }

  /** What is not as it was is asked for by a renewal, whose answer counts. */
  async #look(held: HeldExecution): Promise<void> {
    try {
      const { result } = await this.#batcher.run(held.partition, 'describeExecution', { executionId: held.id })
      this.#health.answered()
      if (result.kind === 'described') {
        const { state, epoch } = result.execution
        if (state.phase === 'active' && epoch === held.claimed.fence.epoch && state.cancel === undefined) return
      }
      await this.#keeper.renew(held)
    } catch (error) {
      this.#health.failed(error)
    }
  }
}
