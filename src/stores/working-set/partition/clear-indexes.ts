/**
 * A cache of the lowest score in ready indexes and in the due index of one partition, from the last loads and commits. Other
 * processes add entries, so a commit has to check what was decided by it.
 */
import { DUE_INDEX, isReadyIndex } from '../../../kernel/index.ts'
import type { Instant } from '../../../kernel/index.ts'
import type { EntryWrite } from '../overlay/stored-data.ts'

/** Indexes in the cache at most. */
const INDEXES_MAX = 1_000

export class ClearIndexes {
  readonly #lowest = new Map<string, number>()

  /** Whether nothing is ready in a ready index, or due in the due index. */
  isClear(index: string, now: Instant | undefined): boolean {
    const lowest = this.#lowest.get(index)
    if (lowest === undefined) return false
    return index === DUE_INDEX ? now !== undefined && lowest > now : lowest === Infinity
  }

  /** Records the first entry of a load. */
  saw(index: string, first: number | undefined): void {
    if (index !== DUE_INDEX && !isReadyIndex(index)) return
    if (this.#lowest.size >= INDEXES_MAX) this.#lowest.clear()
    this.#lowest.set(index, first ?? Infinity)
  }

  /** Records the entries of a commit. Removals do not raise the lowest score. */
  wrote(entries: readonly EntryWrite[]): void {
    for (const { index, after } of entries) {
      const lowest = after === undefined ? undefined : this.#lowest.get(index)
      if (lowest !== undefined && after !== undefined && after < lowest) this.#lowest.set(index, after)
    }
  }

  /** Drops an index after a failed check. */
  doubt(index: string): void {
    this.#lowest.delete(index)
  }

  clear(): void {
    this.#lowest.clear()
  }
}
