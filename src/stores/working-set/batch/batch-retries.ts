/** Limits how often and how long a batch retries. */
import type { Runtime } from '../../../runtime/index.ts'
import { EngineError } from '../../../kernel/engine-error.ts'
import type { Partition } from '../../store.ts'

/** Retries of a batch at most, not counting those that wait for the lock of another process. */
const TRIES_MAX = 40
/** How long a batch waits for the lock of its partition. */
export const LOCK_WAIT_MAX_MS = 5_000
/** The longest pause before a batch retries after the lock of another process refused its commit. */
const LOCKED_PAUSE_MAX_MS = 16

/** Why operations run again: another process changed what they read, or holds the lock. Undefined for all other reasons. */
export type RetryReason = 'conflict' | 'lock' | undefined

/** The retries of one batch. */
export class BatchRetries {
  conflictCount = 0
  readonly #partition: Partition
  readonly #runtime: Runtime
  #tries = 0
  #lockCount = 0
  #lockedSince: number | undefined

  constructor(partition: Partition, runtime: Runtime) {
    this.#partition = partition
    this.#runtime = runtime
  }

  /** The pause before the next try after a lock of another process. Grows with each try. */
  get pauseMs(): number {
    return Math.min(LOCKED_PAUSE_MAX_MS, 2 ** this.#lockCount)
  }

  /** Throws once the batch has reached its limit of tries, or of time for the lock. */
  note(reason: RetryReason): void {
    if (reason === 'conflict') this.conflictCount += 1
    if (reason === 'lock') this.#noteLock()
    else if (++this.#tries === TRIES_MAX) throw contended(this.#partition)
  }

  #noteLock(): void {
    this.#lockCount += 1
    const monotonic = this.#runtime.monotonic()
    this.#lockedSince ??= monotonic
    if (monotonic - this.#lockedSince > LOCK_WAIT_MAX_MS) throw contended(this.#partition)
  }
}

export function contended(partition: Partition): EngineError {
  const message = `Too many processes change the same records of partition ${partition}. Try again.`
  return new EngineError('store_unavailable', { message })
}
