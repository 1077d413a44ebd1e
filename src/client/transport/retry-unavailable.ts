/**
 * Retries a call with the same arguments when the store failed and the outcome of the call is unknown. Every operation is
 * idempotent: by its nature, or by its request id.
 */
import { backoffMs, sleep } from '../../runtime/index.ts'
import type { Runtime } from '../../runtime/index.ts'
import { EngineError } from '../../kernel/engine-error.ts'

/** How long a call is retried before the failure is thrown: long enough for a failover. */
const RETRY_FOR_MS = 8_000
const PAUSE_MAX_MS = 1_000

export async function retryWhileUnavailable<T>(runtime: Runtime, call: () => Promise<T>): Promise<T> {
  const giveUpAt = runtime.monotonic() + RETRY_FOR_MS
  for (let failureCount = 1; ; failureCount++) {
    const pauseMs = backoffMs(runtime, failureCount, PAUSE_MAX_MS)
    try {
      return await call()
    } catch (error) {
      // A busy store has been retried already, and other errors are not transient.
      if (!(error instanceof EngineError) || error.code !== 'store_unavailable') throw error
      if (runtime.monotonic() + pauseMs > giveUpAt) throw error
    }
    await sleep(runtime, pauseMs)
  }
}
