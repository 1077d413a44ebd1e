/** One index within a batch: the entries that the batch has changed, over the stored ones. */
import { compareKeyed } from '../../../kernel/index.ts'
import type { IndexEntry, IndexGuard, Range } from '../../../kernel/index.ts'
import type { StoredData } from './stored-data.ts'

export interface ChangedEntry {
  readonly index: string
  readonly id: string
  /** The score under which it is stored, if it is. */
  readonly before: number | undefined
  after: number | undefined
  /** The operation that changed it last. */
  operation: number
}

/** An entry before a change, so that the change can be undone. */
export interface EntryChange {
  readonly of: IndexOverlay
  readonly id: string
  /** Undefined if the batch had not changed the entry before. */
  readonly earlier: Pick<ChangedEntry, 'after' | 'operation'> | undefined
}

/** The first stored entries up to a score, as far as they were read. */
interface Head {
  readonly to: number | undefined
  readonly entries: IndexEntry[]
  isComplete: boolean
}

export class IndexOverlay {
  readonly name: string
  /** Its guard, computed at the first read. */
  guard: IndexGuard | undefined
  /** The operations that have read it. May repeat. */
  readonly readers: number[] = []
  /** The operations that have changed it. May repeat. */
  readonly writers: number[] = []
  /** Whether it is assumed to have nothing ready or due, without a load. */
  readonly isAssumedClear: boolean
  readonly #data: StoredData
  readonly #index: string
  readonly #changed = new Map<string, ChangedEntry>()
  #head: Head | undefined

  constructor(data: StoredData, index: string) {
    this.#data = data
    this.#index = index
    this.name = index
    this.isAssumedClear = data.assumesClear?.(index) === true
  }

  get changed(): ReadonlyMap<string, ChangedEntry> {
    return this.#changed
  }

  score(id: string, expected: number): number | undefined {
    const entry = this.#changed.get(id)
    return entry === undefined ? this.#data.score(this.#index, id, expected) : entry.after
  }

  /** `stored` is the score before the batch, used if the batch has not changed the entry yet. */
  set(id: string, stored: number | undefined, after: number | undefined, operation: number): EntryChange {
    if (this.writers.at(-1) !== operation) this.writers.push(operation)
    const entry = this.#changed.get(id)
    if (entry === undefined) {
      this.#changed.set(id, { index: this.#index, id, before: stored, after, operation })
      return { of: this, id, earlier: undefined }
    }
    const earlier = { after: entry.after, operation: entry.operation }
    entry.after = after
    entry.operation = operation
    return { of: this, id, earlier }
  }

  undo({ id, earlier }: EntryChange): void {
    const entry = this.#changed.get(id)
    if (earlier === undefined || entry === undefined) {
      this.#changed.delete(id)
      return
    }
    entry.after = earlier.after
    entry.operation = earlier.operation
  }

  range(range: Range): IndexEntry[] {
    const kept = range.from === undefined && range.reverse !== true ? this.#storedHead(range) : this.#stored(range)
    const added: IndexEntry[] = []
    for (const { id, after } of this.#changed.values()) {
      if (after !== undefined && inRange(range, after, id)) added.push({ index: this.#index, score: after, id })
    }
    if (added.length === 0) return kept
    const merged = kept.concat(added).sort(range.reverse === true ? (a, b) => compareKeyed(b, a) : compareKeyed)
    return merged.slice(0, range.limit)
  }

  count(range: Range): number {
    // Each changed entry removes at most one stored entry, so the limit is raised by their number.
    let count = this.#data.count({ ...range, limit: range.limit + this.#changed.size })
    for (const { id, before, after } of this.#changed.values()) {
      if (before !== undefined && inRange(range, before, id)) count -= 1
      if (after !== undefined && inRange(range, after, id)) count += 1
    }
    return Math.min(count, range.limit)
  }

  /** The stored entries of a range that the batch has not changed. */
  #stored(range: Range): IndexEntry[] {
    let limit = range.limit
    for (const [id, { before }] of this.#changed) if (before === undefined || inRange(range, before, id)) limit += 1
    const stored = this.#data.range({ ...range, limit })
    return stored.filter((entry) => !this.#changed.has(entry.id)).slice(0, range.limit)
  }

  /** The same for a range from the start, read once for all operations of a batch. */
  #storedHead({ to, limit }: Range): IndexEntry[] {
    if (this.#head === undefined || this.#head.to !== to) this.#head = { to, entries: [], isComplete: false }
    const { entries } = this.#head
    const kept: IndexEntry[] = []
    for (let i = 0; kept.length < limit; i++) {
      if (i === entries.length) this.#readOn(this.#head, limit - kept.length)
      const entry = entries[i]
      if (entry === undefined) break
      if (!this.#changed.has(entry.id)) kept.push(entry)
    }
    return kept
  }

  /** Doubles the entries read, so that a batch that consumes an index reads it in few steps. */
  #readOn(head: Head, least: number): void {
    if (head.isComplete) return
    const limit = Math.max(least, head.entries.length)
    const more = this.#data.range({ index: this.#index, from: head.entries.at(-1), to: head.to, limit }, least)
    for (const entry of more) head.entries.push(entry)
    head.isComplete = more.length < least
  }
}

export function inRange(range: Range, score: number, id: string): boolean {
  const { from, to } = range
  const sign = range.reverse === true ? -1 : 1
  if (to !== undefined && (score - to) * sign > 0) return false
  if (from === undefined) return true
  if (from.id === undefined) return (score - from.score) * sign >= 0
  return compareKeyed({ score, id }, { score: from.score, id: from.id }) * sign > 0
}
