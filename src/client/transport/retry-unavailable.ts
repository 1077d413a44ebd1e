/**
 * Says a call again, word for word, when the store failed and nobody knows whether the call took effect. Every operation
 * recognises its repetition: by its nature, or by the request id that stays the same.
 */
import { sleep } from '../../runtime/index.ts'
import type { Runtime } from '../../runtime/index.ts'
import { EngineError } from '../../kernel/engine-error.ts'

/** How long one call is said again before its caller hears of the failure: long enough for another server to take over. */
const REPEAT_FOR_MS = 8_000
/** The wait before the second try; it doubles from one to the next, up to a bound. */
const FIRST_PAUSE_MS = 50
const PAUSE_MAX_MS = 1_000

export async function repeatWhileUnavailable<T>(runtime: Runtime, call: () => Promise<T>): Promise<T> {
  const giveUpAt = runtime.monotonic() + REPEAT_FOR_MS
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(PAUSE_MAX_MS, 2 * pauseMs)) {
    try {
      return await call()
    } catch (error) {
      // A busy store has been waited for already, and whatever else is thrown does not pass by itself.
      if (!(error instanceof EngineError) || error.code !== 'store_unavailable') throw error
      if (runtime.monotonic() + pauseMs > giveUpAt) throw error
    }
    await sleep(runtime, pauseMs)
  }
}
