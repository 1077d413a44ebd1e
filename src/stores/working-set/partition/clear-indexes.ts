/**
 * What a process believes of ready indexes and of the due index of one partition, from its last loads and commits: the lowest
 * score that an entry may have. Other processes add entries unseen, so that a commit has to check what was decided by this.
 */
import { DUE_INDEX, isReadyIndex } from '../../../kernel/index.ts'
import type { Instant } from '../../../kernel/index.ts'
import type { EntryWrite } from '../overlay/stored-data.ts'

/** Indexes of which something is believed at most. */
const INDEXES_MAX = 1_000

export class ClearIndexes {
  readonly #lowest = new Map<string, number>()

  /** Whether nothing is ready in a ready index, or due in the due index. */
  isClear(index: string, now: Instant | undefined): boolean {
    const lowest = this.#lowest.get(index)
    if (lowest === undefined) return false
    return index === DUE_INDEX ? now !== undefined && lowest > now : lowest === Infinity
  }

  /** Notes the first entry that a load found. */
  saw(index: string, first: number | undefined): void {
    if (index !== DUE_INDEX && !isReadyIndex(index)) return
    if (this.#lowest.size >= INDEXES_MAX) this.#lowest.clear()
    this.#lowest.set(index, first ?? Infinity)
  }

  /** Notes what a commit has written. Nothing is known of the entries behind those that it removed. */
  wrote(entries: readonly EntryWrite[]): void {
    for (const { index, after } of entries) {
      const lowest = after === undefined ? undefined : this.#lowest.get(index)
      if (lowest !== undefined && after !== undefined && after < lowest) this.#lowest.set(index, after)
    }
  }

  /** Notes that what was believed turned out wrong. */
  doubt(index: string): void {
    this.#lowest.delete(index)
  }

  clear(): void {
    this.#lowest.clear()
  }
}
