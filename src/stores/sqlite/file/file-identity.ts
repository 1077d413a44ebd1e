/**
 * Detects that the opened file was removed or replaced. SQLite would keep writing into the removed file, and every
 * acknowledged write would be lost with the process.
 */
import { statSync } from 'node:fs'
import type { Runtime } from '../../../runtime/index.ts'
import { EngineError } from '../../../kernel/engine-error.ts'

/** How long a check stays valid. */
const TRUSTED_MS = 250

export class FileIdentity {
  readonly #runtime: Runtime
  readonly #path: string
  readonly #opened: string | undefined
  #trustedUntil: number

  constructor(runtime: Runtime, path: string) {
    this.#runtime = runtime
    this.#path = path
    this.#opened = identityOf(path)
    this.#trustedUntil = runtime.monotonic() + TRUSTED_MS
  }

  /** Throws `store_unavailable` if the file was removed or replaced. */
  check(): void {
    const now = this.#runtime.monotonic()
    if (now < this.#trustedUntil) return
    if (identityOf(this.#path) !== this.#opened) {
      throw new EngineError('store_unavailable', {
        message: `${this.#path} was removed or replaced while in use. Put it back, or restart every process that uses it.`,
      })
    }
    this.#trustedUntil = now + TRUSTED_MS
  }
}

function identityOf(path: string): string | undefined {
  const status = statSync(path, { throwIfNoEntry: false })
  return status === undefined ? undefined : `${status.dev}:${status.ino}`
}
