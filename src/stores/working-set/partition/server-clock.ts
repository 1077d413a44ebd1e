/**
 * The clock of a server, estimated from its replies. A reply carries the server's time, which is past when the reply arrives:
 * the estimate is a lower bound, and the largest one of the last seconds counts.
 */
import type { Instant } from '../../../kernel/index.ts'
import type { Runtime } from '../../../runtime/index.ts'

/** Clocks drift, so a bound expires after one to two of these. */
const WINDOW_MS = 10_000

export class ServerClock {
  readonly #runtime: Runtime
  /** The largest differences between the server's time and the monotonic clock, in this window and the one before. */
  #offset: number | undefined
  #offsetBefore: number | undefined
  #windowEndsAt = 0

  constructor(runtime: Runtime) {
    this.#runtime = runtime
  }

  /** Undefined until the server has replied once. */
  now(): Instant | undefined {
    const offset = this.#best()
    return offset === undefined ? undefined : Math.floor(this.#runtime.monotonic() + offset)
  }

  /** Updates the estimate from a reply. Returns whether the server's clock went back. */
  observe(serverNow: Instant): boolean {
    const monotonic = this.#runtime.monotonic()
    const expected = this.now()
    const offset = serverNow - monotonic
    if (monotonic >= this.#windowEndsAt) {
      this.#offsetBefore = this.#offset
      this.#offset = undefined
      this.#windowEndsAt = monotonic + WINDOW_MS
    }
    this.#offset = Math.max(this.#offset ?? offset, offset)
    return expected !== undefined && serverNow < expected - WINDOW_MS
  }

  /** Restarts the estimate from a reply. */
  restart(serverNow: Instant): void {
    this.#offset = undefined
    this.#offsetBefore = undefined
    this.observe(serverNow)
  }

  #best(): number | undefined {
    if (this.#offset === undefined) return this.#offsetBefore
    return Math.max(this.#offset, this.#offsetBefore ?? this.#offset)
  }
}
