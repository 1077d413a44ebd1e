/** The undo log of a batch in an overlay. Only the newest operation can be undone. */
import type { AnyRecord, IndexEntry } from '../../../kernel/index.ts'
import type { HeldBlob, HeldEvent, HeldRecord, LateBlob } from './held-record.ts'
import type { EntryChange } from './index-overlay.ts'
import type { UNREADABLE } from './stored-data.ts'

/** The parts of an overlay that are undone. */
interface Held {
  readonly blobs: Map<string, HeldBlob>
  readonly events: HeldEvent[]
  readonly late: LateBlob[]
}

/** A record before its first write by an operation. */
interface EarlierRecord {
  readonly held: HeldRecord
  readonly current: AnyRecord | typeof UNREADABLE | undefined
  readonly isChanged: boolean
  readonly entries: readonly IndexEntry[] | undefined
  readonly writer: number | undefined
}

export class Undo {
  readonly #held: Held
  /** What the operations of the batch have changed: lists of their own would cost each of them more than the changes. */
  readonly #records: EarlierRecord[] = []
  readonly #entries: EntryChange[] = []
  readonly #blobs: { readonly key: string; readonly earlier: HeldBlob | undefined }[] = []
  /** Where those of the newest operation begin. */
  #recordStart = 0
  #entryStart = 0
  #blobStart = 0
  #eventStart = 0
  #lateStart = 0

  constructor(held: Held) {
    this.#held = held
  }

  /** Starts the next operation. Earlier ones are not undone any more. */
  begin(): void {
    this.#recordStart = this.#records.length
    this.#entryStart = this.#entries.length
    this.#blobStart = this.#blobs.length
    this.#eventStart = this.#held.events.length
    this.#lateStart = this.#held.late.length
  }

  /** Counts distinct records of the operation. */
  get recordCount(): number {
    return this.#records.length - this.#recordStart
  }

  /** Called before the first write of a record. */
  record(held: HeldRecord): void {
    const { current, isChanged, entries, writer } = held
    this.#records.push({ held, current, isChanged, entries, writer })
  }

  entry(change: EntryChange): void {
    this.#entries.push(change)
  }

  /** Called before a blob is written or removed. */
  blob(key: string): void {
    this.#blobs.push({ key, earlier: this.#held.blobs.get(key) })
  }

  /** Undoes the newest operation. */
  run(): void {
    const { blobs, events, late } = this.#held
    for (const { held, ...earlier } of this.#records.splice(this.#recordStart)) Object.assign(held, earlier)
    for (const change of this.#entries.splice(this.#entryStart).reverse()) change.of.undo(change)
    for (const { key, earlier } of this.#blobs.splice(this.#blobStart).reverse()) {
      if (earlier === undefined) blobs.delete(key)
      else blobs.set(key, earlier)
    }
    events.length = this.#eventStart
    late.length = this.#lateStart
  }
}
