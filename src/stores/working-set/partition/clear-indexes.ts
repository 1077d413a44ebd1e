/**
 * Beliefs about the ready indexes and the due index of one partition, from the last loads and commits: how many entries a ready
 * index has, and the lowest score in the due index. Other processes change the indexes too, so a commit has to check what was
 * decided by a belief.
 */
import { DUE_INDEX, isReadyIndex } from '../../../kernel/index.ts'
import type { Instant } from '../../../kernel/index.ts'
import type { Head } from '../load/working-set.ts'
import type { EntryWrite } from '../overlay/stored-data.ts'

/** Indexes in the cache at most. */
const INDEXES_MAX = 1_000

export class ClearIndexes {
  readonly #counts = new Map<string, number>()
  #lowestDue: number | undefined

  /** Whether nothing is ready in a ready index, or due in the due index. */
  isClear(index: string, now: Instant | undefined): boolean {
    if (index !== DUE_INDEX) return this.#counts.get(index) === 0
    return now !== undefined && this.#lowestDue !== undefined && this.#lowestDue > now
  }

  /** Records the head of an index from a load. */
  saw(index: string, { entries, isWhole }: Head): void {
    if (index === DUE_INDEX) {
      this.#lowestDue = entries[0]?.score ?? Infinity
    } else if (isReadyIndex(index)) {
      if (this.#counts.size >= INDEXES_MAX) this.#counts.clear()
      this.#counts.set(index, isWhole ? entries.length : Infinity)
    }
  }

  /** Records the entries of a commit. Removals do not raise the lowest score. */
  wrote(entries: readonly EntryWrite[]): void {
    for (const { index, before, after } of entries) {
      if (index === DUE_INDEX) {
        if (after !== undefined && this.#lowestDue !== undefined && after < this.#lowestDue) this.#lowestDue = after
        continue
      }
      const count = this.#counts.get(index)
      if (count === undefined) continue
      if (before === undefined) this.#counts.set(index, count + 1)
      else if (after === undefined) this.#counts.set(index, count - 1)
    }
  }

  /** Drops an index after a failed check. */
  doubt(index: string): void {
    if (index === DUE_INDEX) this.#lowestDue = undefined
    else this.#counts.delete(index)
  }

  clear(): void {
    this.#counts.clear()
    this.#lowestDue = undefined
  }
}
