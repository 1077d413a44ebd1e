/** Remembers how far claims of plain work have looked behind the work that they leave to other workers. */
import type { PlainPlace, QueueName } from '../../kernel/index.ts'
import type { Partition } from '../../stores/store.ts'

/** What is forgotten is read again from the first execution. */
const PLACE_MAX = 1_000

export class PlainPlaces {
  readonly #places = new Map<string, PlainPlace>()

  /** Returns the place of claims from these queues of a partition, by workers that take the same. */
  placeOf(partition: Partition, queues: readonly QueueName[], takes: readonly string[]) {
    const id = JSON.stringify([partition, queues, takes])
    return {
      get: () => this.#places.get(id),
      set: (place: PlainPlace | undefined) => this.#set(id, place),
    }
  }

  #set(id: string, place: PlainPlace | undefined): void {
    this.#places.delete(id)
    if (place === undefined) return
    const [oldest] = this.#places.keys()
    if (this.#places.size >= PLACE_MAX && oldest !== undefined) this.#places.delete(oldest)
    this.#places.set(id, place)
  }
}
