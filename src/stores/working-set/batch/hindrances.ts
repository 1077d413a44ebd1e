/** What delays a batch, and for how long the batch retries. */
import type { Runtime } from '../../../runtime/index.ts'
import { EngineError } from '../../../kernel/engine-error.ts'
import type { Partition } from '../../store.ts'

/** How often the operations of a batch may run again, for whatever reason but the lock of another program. */
const TRIES_MAX = 40
/** How long a batch waits for the lock of its partition. */
export const LOCK_WAIT_MAX_MS = 5_000
/** How long a batch whose commit met the lock of another program waits at most before it loads again. */
const LOCKED_PAUSE_MAX_MS = 16

/** Why operations run again: another program changed what they read, or holds the lock. Undefined for everything else. */
export type Hindrance = 'conflict' | 'lock' | undefined

/** Those of one batch. */
export class Hindrances {
  conflictCount = 0
  readonly #partition: Partition
  readonly #runtime: Runtime
  #tries = 0
  #lockCount = 0
  #heldUpSince: number | undefined

  constructor(partition: Partition, runtime: Runtime) {
    this.#partition = partition
    this.#runtime = runtime
  }

  /** How long to wait for the lock of another program before the next try. Longer each time. */
  get pauseMs(): number {
    return Math.min(LOCKED_PAUSE_MAX_MS, 2 ** this.#lockCount)
  }

  /** Throws once the batch has tried often enough, or waited long enough for the lock. */
  note(hindrance: Hindrance): void {
    if (hindrance === 'conflict') this.conflictCount += 1
    if (hindrance === 'lock') this.#noteLock()
    else if (++this.#tries === TRIES_MAX) throw contended(this.#partition)
  }

  #noteLock(): void {
    this.#lockCount += 1
    const monotonic = this.#runtime.monotonic()
    this.#heldUpSince ??= monotonic
    if (monotonic - this.#heldUpSince > LOCK_WAIT_MAX_MS) throw contended(this.#partition)
  }
}

export function contended(partition: Partition): EngineError {
  const message = `Too many processes change the same records of partition ${partition}. Try again.`
  return new EngineError('store_unavailable', { message })
}
