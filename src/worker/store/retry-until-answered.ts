/** Retries a call with backoff until the store replies, the execution is refused or the worker stops. */
import { backoffMs, sleep } from '../../runtime/index.ts'
import type { Runtime } from '../../runtime/index.ts'
import type { EngineError } from '../../kernel/engine-error.ts'
import { isTransient } from '../../stores/store-health.ts'
import type { CallHealth } from '../../stores/store-health.ts'
import type { Partition } from '../../stores/store.ts'

/** The longest delay between two tries of a worker's call. */
export const BACKOFF_MAX_MS = 5_000

export interface RetryServices {
  readonly runtime: Runtime
  readonly health: CallHealth
  /** Aborts when the worker has stopped. */
  readonly stopped: AbortSignal
}

/** The subject of a call. A refusal ends the retries. */
interface Refusable {
  readonly partition: Partition
  readonly refusal: EngineError | undefined
}

/** Throws the last error if it is not transient or if retrying has become pointless. */
export function retryUntilAnswered<T>(
  repetition: RetryServices,
  leased: Refusable,
  call: (isRetry: boolean) => Promise<T>,
): Promise<T> {
  const { health } = repetition
  // Nearly every call is answered at once, so the loop is entered only after a failure.
  return call(false).then(
    (answer) => {
      health.answered(leased.partition)
      return answer
    },
    (error: unknown) => retry(repetition, leased, call, error),
  )
}

async function retry<T>(
  { runtime, health, stopped }: RetryServices,
  leased: Refusable,
  call: (isRetry: boolean) => Promise<T>,
  failure: unknown,
): Promise<T> {
  let error = failure
  for (let failureCount = 1; ; failureCount++) {
    health.failed(leased.partition, error)
    if (!isTransient(error)) throw error
    await sleep(runtime, backoffMs(runtime, failureCount, BACKOFF_MAX_MS), stopped)
    if (leased.refusal !== undefined || stopped.aborted) throw error
    try {
      const answer = await call(true)
      health.answered(leased.partition)
      return answer
    } catch (next) {
      error = next
    }
  }
}
