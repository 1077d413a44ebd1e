/** Counts requests with invalid credentials by address, and refuses an address that sends too many. */
import { hash } from 'node:crypto'
import { EngineError } from '../../kernel/engine-error.ts'
import type { Runtime } from '../../runtime/index.ts'

/** Failures of one address within the window before it is refused. */
const FAILURE_MAX = 20
const WINDOW_MS = 60_000
/** Addresses that are remembered. The oldest is forgotten first. */
const ADDRESS_MAX = 10_000

interface Count {
  since: number
  failures: number
  /** Digests of the tokens of cookies that were counted. */
  readonly cookies: Set<string>
}

/** The refusal of an address, and when its requests are answered again. */
export class TooManyFailures extends EngineError {
  readonly retryAfterSeconds: number

  constructor(leftMs: number) {
    super('too_many_failures')
    this.retryAfterSeconds = Math.ceil(leftMs / 1_000)
  }
}

export class FailureCounts {
  readonly #runtime: Pick<Runtime, 'monotonic'>
  readonly #counts = new Map<string, Count>()

  constructor(runtime: Pick<Runtime, 'monotonic'>) {
    this.#runtime = runtime
  }

  /** Throws if requests of an address are refused before their credentials are checked. */
  refuse(address: string | undefined): void {
    if (address === undefined) return
    const count = this.#counts.get(address)
    if (count === undefined) return
    const leftMs = count.since + WINDOW_MS - this.#runtime.monotonic()
    if (leftMs <= 0) this.#counts.delete(address)
    else if (count.failures >= FAILURE_MAX) throw new TooManyFailures(leftMs)
  }

  /** A page repeats the cookie of a token that was revoked, which is no further guess: each token of a cookie counts once. */
  add(address: string | undefined, cookie?: string): void {
    if (address === undefined) return
    const digest = cookie === undefined ? undefined : hash('sha256', cookie)
    const count = this.#counts.get(address)
    if (count !== undefined) {
      if (digest !== undefined && count.cookies.has(digest)) return
      if (digest !== undefined) count.cookies.add(digest)
      count.failures += 1
      return
    }
    const oldest = this.#counts.keys().next()
    if (this.#counts.size >= ADDRESS_MAX && oldest.done !== true) this.#counts.delete(oldest.value)
    this.#counts.set(address, {
      since: this.#runtime.monotonic(),
      failures: 1,
      cookies: new Set(digest === undefined ? [] : [digest]),
    })
  }
}
