/**
 * Chooses the partitions of executions with fairness whose ids are minted. Each partition serves its keys by turns of its own, so
 * a key gets its share of the whole store only while it has work in all partitions. Hence the executions of one key go to the partitions
 * one after the other.
 */
import { shareId, turnScope } from '../../kernel/index.ts'
import type { CreateInput } from '../../kernel/index.ts'
import type { Runtime } from '../../runtime/index.ts'
import type { Batcher } from '../../stores/batcher.ts'

/** Keys whose last partition is known. A key that was dropped begins with a random partition again. */
const KEY_COUNT_MAX = 10_000

/** What decides the queue, and the key there. */
export type Placed = Pick<CreateInput, 'lane' | 'class' | 'priority' | 'fairness'>

export class FairPlacement {
  readonly #partitionCount: number
  readonly #runtime: Runtime
  readonly #lastNumbers = new Map<string, number>()

  constructor(partitionCount: number, runtime: Runtime) {
    this.#partitionCount = partitionCount
    this.#runtime = runtime
  }

  /** Returns the number of the partition for the next execution of a key. */
  nextNumber({ lane, class: className, priority, fairness }: Placed): number {
    if (this.#partitionCount === 1) return 0
    const id = shareId(turnScope(lane, className, priority), fairness?.key ?? '')
    const last = this.#lastNumbers.get(id) ?? this.#firstNumber()
    const number = (last + 1) % this.#partitionCount
    this.#lastNumbers.set(id, number)
    return number
  }

  /** Random, so that short-lived programs do not all fill the same partition. */
  #firstNumber(): number {
    for (const oldest of this.#lastNumbers.keys()) {
      if (this.#lastNumbers.size < KEY_COUNT_MAX) break
      this.#lastNumbers.delete(oldest)
    }
    return Math.floor(this.#runtime.random() * this.#partitionCount)
  }
}

const placements = new WeakMap<Batcher, FairPlacement>()

export function fairPlacementOf(batcher: Batcher, runtime: Runtime): FairPlacement {
  const known = placements.get(batcher)
  if (known !== undefined) return known
  const placement = new FairPlacement(batcher.store.settings.executionPartitions, runtime)
  placements.set(batcher, placement)
  return placement
}
