/** The undo log of one operation in an overlay. */
import type { HeldBlob, HeldEvent, HeldRecord, LateBlob } from './held-record.ts'
import type { EntryChange } from './index-overlay.ts'

/** The parts of an overlay that are undone. */
interface Held {
  readonly blobs: Map<string, HeldBlob>
  readonly events: HeldEvent[]
  readonly late: LateBlob[]
}

type EarlierRecord = Pick<HeldRecord, 'current' | 'isChanged' | 'entries' | 'writer'>

export class Undo {
  readonly #held: Held
  readonly #eventCount: number
  readonly #lateCount: number
  readonly #records: { readonly held: HeldRecord; readonly earlier: EarlierRecord }[] = []
  readonly #entries: EntryChange[] = []
  readonly #blobs: { readonly key: string; readonly earlier: HeldBlob | undefined }[] = []

  constructor(held: Held) {
    this.#held = held
    this.#eventCount = held.events.length
    this.#lateCount = held.late.length
  }

  /** Counts distinct records. */
  get recordCount(): number {
    return this.#records.length
  }

  /** Called before the first write of a record. */
  record(held: HeldRecord): void {
    const { current, isChanged, entries, writer } = held
    this.#records.push({ held, earlier: { current, isChanged, entries, writer } })
  }

  entry(change: EntryChange): void {
    this.#entries.push(change)
  }

  /** Called before a blob is written or removed. */
  blob(key: string): void {
    this.#blobs.push({ key, earlier: this.#held.blobs.get(key) })
  }

  run(): void {
    const { blobs, events, late } = this.#held
    for (const { held, earlier } of this.#records) Object.assign(held, earlier)
    for (const change of this.#entries.reverse()) change.of.undo(change)
    for (const { key, earlier } of this.#blobs.reverse()) {
      if (earlier === undefined) blobs.delete(key)
      else blobs.set(key, earlier)
    }
    events.length = this.#eventCount
    late.length = this.#lateCount
  }
}
