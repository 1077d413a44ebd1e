/** Counts requests with invalid credentials by address, and refuses an address that sends too many. */
import { hash } from 'node:crypto'
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

export class FailureCounts {
  readonly #runtime: Pick<Runtime, 'monotonic'>
  readonly #counts = new Map<string, Count>()

  constructor(runtime: Pick<Runtime, 'monotonic'>) {
    this.#runtime = runtime
  }

  /** Whether requests of an address are refused before their credentials are checked. */
  isRefused(address: string | undefined): boolean {
    if (address === undefined) return false
    const count = this.#counts.get(address)
    if (count === undefined) return false
    if (this.#runtime.monotonic() - count.since < WINDOW_MS) return count.failures >= FAILURE_MAX
    this.#counts.delete(address)
    return false
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
