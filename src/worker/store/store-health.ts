/** Logs once when calls to the store begin to fail and once when they succeed again. */
import { errorFields } from '../../runtime/index.ts'
import type { Log } from '../../runtime/index.ts'
import { EngineError } from '../../kernel/engine-error.ts'

/** The longest delay between two tries of a worker's call. */
export const BACKOFF_MAX_MS = 5_000

export class StoreHealth {
  readonly #log: Log
  #failureCount = 0

  constructor(log: Log) {
    this.#log = log
  }

  failed(error: unknown): void {
    this.#failureCount += 1
    if (this.#failureCount === 1)
      this.#log.warn(errorFields(error), 'store call failed; retrying with backoff until the store responds')
  }

  answered(): void {
    if (this.#failureCount === 0) return
    this.#log.info({ failureCount: this.#failureCount }, 'store responds again; calls resume')
    this.#failureCount = 0
  }
}

/** Whether a retry can succeed. Errors thrown by the store itself are assumed to be transient. */
export function isTransient(error: unknown): boolean {
  return !(error instanceof EngineError) || error.isRetryable
}
