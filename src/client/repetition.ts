/**
 * Says a call again, word for word, when the store failed and nobody knows whether the call took effect. Every operation
 * recognises its repetition: by its nature, or by the request id that stays the same.
 */
import { sleep } from '../runtime/index.ts'
import type { Runtime } from '../runtime/index.ts'
import { EngineError } from '../stores/engine-error.ts'

/** How often one call is said before its caller hears of the failure. */
const TRIES_MAX = 4
/** The wait before the second try; it doubles from one to the next. */
const FIRST_PAUSE_MS = 50

export async function repeatWhileUnavailable<T>(runtime: Runtime, call: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await call()
    } catch (error) {
      // A busy store has been waited for already, and whatever else is thrown does not pass by itself.
      if (tries === TRIES_MAX || !(error instanceof EngineError) || error.code !== 'store_unavailable') throw error
    }
    await sleep(runtime, FIRST_PAUSE_MS * 2 ** (tries - 1))
  }
}
