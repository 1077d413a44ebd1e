/** Whether the store answers: one warning for each streak of failures, and how long to wait before trying again. */
import { errorFields } from '../../runtime/index.ts'
import type { Log, Runtime } from '../../runtime/index.ts'
import { EngineError } from '../../kernel/engine-error.ts'

const BACKOFF_FIRST_MS = 50
const BACKOFF_MAX_MS = 5_000

export class StoreHealth {
  readonly #log: Log
  #failureCount = 0

  constructor(log: Log) {
    this.#log = log
  }

  failed(error: unknown): void {
    this.#failureCount += 1
    if (this.#failureCount === 1)
      this.#log.warn(errorFields(error), 'the store failed a call; it is repeated until it answers')
  }

  answered(): void {
    if (this.#failureCount === 0) return
    this.#log.info({ failureCount: this.#failureCount }, 'the store answers again')
    this.#failureCount = 0
  }
}

/** Doubles with each failure in a row; half of it is chance, so that many workers do not return in one moment. */
export function backoffMs(runtime: Runtime, failureCount: number): number {
  const whole = Math.min(BACKOFF_MAX_MS, BACKOFF_FIRST_MS * 2 ** Math.min(failureCount - 1, 16))
  return (whole / 2) * (1 + runtime.random())
}

/** Whether saying the same again can help. What the store itself threw, whatever it is, may pass. */
export function isTransient(error: unknown): boolean {
  return !(error instanceof EngineError) || error.isRetryable
}
