/** Says a call again until the store answers it, for as long as the answer can matter. */
import { sleep } from '../../runtime/index.ts'
import type { Runtime } from '../../runtime/index.ts'
import type { EngineError } from '../../kernel/engine-error.ts'
import { backoffMs, isTransient } from './store-health.ts'
import type { StoreHealth } from './store-health.ts'

export interface RetryServices {
  readonly runtime: Runtime
  readonly health: StoreHealth
  /** Aborts when the worker has stopped: nobody waits for an answer then. */
  readonly stopped: AbortSignal
}

/** What a call is about: once it is refused, there is no point in saying it again. */
interface Refusable {
  readonly refusal: EngineError | undefined
}

/** Throws what the store threw last, if saying it again cannot help or is no longer wanted. */
export async function retryUntilAnswered<T>(
  repetition: RetryServices,
  leased: Refusable,
  call: (isRepeated: boolean) => Promise<T>,
): Promise<T> {
  const { runtime, health, stopped } = repetition
  for (let failureCount = 0; ; failureCount++) {
    try {
      const answer = await call(failureCount > 0)
      health.answered()
      return answer
    } catch (error) {
      health.failed(error)
      if (!isTransient(error)) throw error
      await sleep(runtime, backoffMs(runtime, failureCount + 1), stopped)
      if (leased.refusal !== undefined || stopped.aborted) throw error
    }
  }
}
