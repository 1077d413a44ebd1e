/**
 * Retries a call with the same arguments when the store failed and the outcome of the call is unknown. Every operation is
 * idempotent: by its nature, or by its request id.
 */
import { sleep } from '../../runtime/index.ts'
import type { Runtime } from '../../runtime/index.ts'
import { EngineError } from '../../kernel/engine-error.ts'

/** How long a call is retried before the failure is thrown: long enough for a failover. */
const RETRY_FOR_MS = 8_000
/** The delay before the first retry; it doubles with each retry, up to a limit. */
const FIRST_PAUSE_MS = 50
const PAUSE_MAX_MS = 1_000

export async function retryWhileUnavailable<T>(runtime: Runtime, call: () => Promise<T>): Promise<T> {
  const giveUpAt = runtime.monotonic() + RETRY_FOR_MS
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(PAUSE_MAX_MS, 2 * pauseMs)) {
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
