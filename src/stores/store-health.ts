/**
 * The outages of a store, as the workers and engines of a process notice them. Every outage is logged once when it begins and once
 * when it is over, however many partitions and callers it concerns.
 */
import { errorFields } from '../runtime/index.ts'
import type { Log } from '../runtime/index.ts'
import { EngineError } from '../kernel/engine-error.ts'
import type { Partition } from './store.ts'

interface Outage {
  /** Partitions whose latest call failed. The outage is over when each has answered. */
  readonly partitions: Set<Partition>
  failureCount: number
  readonly log: Log
}

/** Notes the calls of one worker or engine. */
export interface CallHealth {
  /** Notes a call without an answer. The first one of an outage is logged. */
  readonly failed: (partition: Partition, error: unknown) => void
  readonly answered: (partition: Partition) => void
}

export class StoreHealth {
  /** By cause: the code of the error. */
  readonly #outages = new Map<string, Outage>()

  /** The health for a caller with this log. The caller that notices an outage first logs it. */
  loggedTo(log: Log): CallHealth {
    return {
      failed: (partition, error) => this.#failed(partition, error, log),
      answered: (partition) => this.#answered(partition),
    }
  }

  #failed(partition: Partition, error: unknown, log: Log): void {
    const cause = error instanceof EngineError ? error.code : 'unexpected'
    let outage = this.#outages.get(cause)
    if (outage === undefined) {
      outage = { partitions: new Set(), failureCount: 0, log }
      this.#outages.set(cause, outage)
      log.warn(
        { partition, ...errorFields(error) },
        'store call failed; retrying with backoff until the store responds',
      )
    }
    outage.partitions.add(partition)
    outage.failureCount += 1
  }

  #answered(partition: Partition): void {
    if (this.#outages.size === 0) return
    for (const [cause, { partitions, failureCount, log }] of this.#outages) {
      if (!partitions.delete(partition) || partitions.size > 0) continue
      this.#outages.delete(cause)
      log.info({ partition, failureCount }, 'store responds again; calls resume')
    }
  }
}

/** Whether a retry can succeed. Errors thrown by the store itself are assumed to be transient. */
export function isTransient(error: unknown): boolean {
  return !(error instanceof EngineError) || error.isRetryable
}
