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

export function retryWhileUnavailable<T>(runtime: Runtime, call: () => Promise<T>): Promise<T> {
  const giveUpAt = runtime.monotonic() + RETRY_FOR_MS
  // Nearly every call succeeds at once, and an asynchronous function around it would cost more than the call itself.
  return call().catch((error: unknown) => retry(runtime, call, error, giveUpAt))
}

async function retry<T>(runtime: Runtime, call: () => Promise<T>, failure: unknown, giveUpAt: number): Promise<T> {
  let error = failure
  for (let failureCount = 1; ; failureCount++) {
    // A busy store has been retried already, and other errors are not transient.
    if (!(error instanceof EngineError) || error.code !== 'store_unavailable') throw error
    const pauseMs = backoffMs(runtime, failureCount, PAUSE_MAX_MS)
    if (runtime.monotonic() + pauseMs > giveUpAt) throw error
    await sleep(runtime, pauseMs)
    try {
      return await call()
    } catch (next) {
      error = next
    }
  }
}
