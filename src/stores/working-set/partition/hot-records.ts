/**
 * Contended records. One with two conflicts within a second is hot for a second: batches that plan to read it take the lock of
 * the partition at once instead of an optimistic try.
 */
import type { RecordType } from '../../../kernel/index.ts'
import type { WorkingSet } from '../load/working-set.ts'

const HOT_MS = 1_000
/** Tracked records at most. */
const WATCHED_MAX = 1_000

interface Conflicts {
  readonly type: RecordType
  readonly id: string
  readonly at: number
  readonly count: number
}

export class HotRecords {
  readonly #conflicts = new Map<string, Conflicts>()

  /** Records a conflict. */
  note(type: RecordType, id: string, monotonic: number): void {
    const key = `${type} ${id}`
    const known = this.#conflicts.get(key)
    const isRecent = known !== undefined && monotonic - known.at < HOT_MS
    this.#conflicts.delete(key)
    this.#conflicts.set(key, { type, id, at: monotonic, count: isRecent ? known.count + 1 : 1 })
    this.#forgetOld(monotonic)
  }

  hasAny(monotonic: number): boolean {
    return this.#someHot(monotonic, () => true)
  }

  /** Whether a batch is about to read a hot record. */
  concerns(set: WorkingSet, monotonic: number): boolean {
    return this.#someHot(monotonic, ({ type, id }) => set.plans(type, id))
  }

  #someHot(monotonic: number, test: (record: Conflicts) => boolean): boolean {
    if (this.#conflicts.size === 0) return false
    this.#forgetOld(monotonic)
    for (const record of this.#conflicts.values()) if (record.count > 1 && test(record)) return true
    return false
  }

  #forgetOld(monotonic: number): void {
    for (const [key, { at }] of this.#conflicts) {
      if (monotonic - at < HOT_MS && this.#conflicts.size <= WATCHED_MAX) return
      this.#conflicts.delete(key)
    }
  }
}
