/** Coalesces requests of one event-loop turn into one callback, before the batch of that turn is sent. */
import type { Runtime } from '../../runtime/index.ts'

export class TurnEnd {
  readonly #runtime: Runtime
  readonly #callback: () => void
  #isRequested = false
  /** When the first request of the turn was made, on the monotonic clock. */
  beganAt = 0

  constructor(runtime: Runtime, callback: () => void) {
    this.#runtime = runtime
    this.#callback = callback
  }

  request(): void {
    if (this.#isRequested) return
    this.#isRequested = true
    this.beganAt = this.#runtime.monotonic()
    this.#runtime.nextTick(() => {
      this.#isRequested = false
      this.#callback()
    })
  }
}
