/**
 * Runners that all run at once until one of them is let win, and what becomes of the others: when the handler of each is
 * asked to stop, and when the store has it as cancelled.
 */
import type { ExecutionId } from '../../src/kernel/index.ts'

export interface RaceTime {
  /** Until the store had the last of the others as cancelled. */
  readonly cancelledMs: number
  /** Until the handler of the last of the others was aborted. */
  readonly toldMs: number
}

export class Race {
  readonly #runnerCount: number
  readonly #allRunning = Promise.withResolvers<undefined>()
  readonly #gun = Promise.withResolvers<undefined>()
  readonly #running = new Set<ExecutionId>()
  readonly #untold = new Set<ExecutionId>()
  readonly #uncancelled = new Set<ExecutionId>()
  readonly #allTold = Promise.withResolvers<number>()
  readonly #allCancelled = Promise.withResolvers<number>()
  #winner: ExecutionId | undefined
  #wonAt = Number.NaN

  constructor(runnerCount: number) {
    this.#runnerCount = runnerCount
  }

  /** What the handler of a runner does: it runs until it wins or is aborted. */
  async run(id: ExecutionId, signal: AbortSignal): Promise<void> {
    this.#winner ??= id
    this.#running.add(id)
    if (id === this.#winner) {
      this.#startWhenComplete()
      await this.#gun.promise
      this.#wonAt = performance.now()
      return
    }
    this.#untold.add(id)
    this.#uncancelled.add(id)
    this.#startWhenComplete()
    await told(signal)
    leave(this.#untold, id, this.#allTold)
    throw signal.reason
  }

  /** News from the store of an execution that has ended as cancelled. */
  cancelled(id: ExecutionId): void {
    if (this.#uncancelled.has(id)) leave(this.#uncancelled, id, this.#allCancelled)
  }

  /** Lets one runner win as soon as all of them run. */
  async finish(): Promise<RaceTime> {
    await this.#allRunning.promise
    this.#gun.resolve(undefined)
    const [toldAt, cancelledAt] = await Promise.all([this.#allTold.promise, this.#allCancelled.promise])
    return { cancelledMs: cancelledAt - this.#wonAt, toldMs: toldAt - this.#wonAt }
  }

  #startWhenComplete(): void {
    if (this.#running.size === this.#runnerCount) this.#allRunning.resolve(undefined)
  }
}

/** Resolved by the last one to leave. */
function leave(group: Set<ExecutionId>, id: ExecutionId, last: PromiseWithResolvers<number>): void {
  group.delete(id)
  if (group.size === 0) last.resolve(performance.now())
}

async function told(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return
  await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }))
}
