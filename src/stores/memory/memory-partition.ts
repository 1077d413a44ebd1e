/** One partition of the memory store: records, indexes, blobs and the event log. */
import { recordTypes } from '../../kernel/index.ts'
import type { AnyRecord, FabricEvent, IndexEntry, Range, RecordType } from '../../kernel/index.ts'
import { compareEntries, inRange } from '../working-set/index-overlay.ts'
import type { StoredData, Writes } from '../working-set/stored-data.ts'

export interface KeptEvent {
  readonly sequence: number
  readonly event: FabricEvent
}

export class MemoryPartition implements StoredData {
  readonly records = new Map<RecordType, Map<string, AnyRecord>>(recordTypes.map((type) => [type, new Map()]))
  readonly indexes = new Map<string, IndexEntry[]>()
  readonly scores = new Map<string, Map<string, number>>()
  readonly blobs = new Map<string, Uint8Array>()
  events: KeptEvent[] = []
  lastSequence = 0

  record(type: RecordType, id: string): AnyRecord | undefined {
    return this.records.get(type)?.get(id)
  }

  range(range: Range): IndexEntry[] {
    const entries = this.indexes.get(range.index) ?? []
    const found: IndexEntry[] = []
    const backwards = range.reverse === true
    for (
      let i = this.#start(entries, range);
      i >= 0 && i < entries.length && found.length < range.limit;
      i += backwards ? -1 : 1
    ) {
      const entry = entries[i]
      if (entry === undefined || !inRange(range, entry.score, entry.id)) break
      found.push(entry)
    }
    return found
  }

  count(range: Range): number {
    return this.range(range).length
  }

  score(index: string, id: string): number | undefined {
    return this.scores.get(index)?.get(id)
  }

  /** A copy, as everywhere else: what a reader does with its bytes is its own affair. */
  blob(key: string): Uint8Array | undefined {
    const bytes = this.blobs.get(key)
    return bytes === undefined ? undefined : new Uint8Array(bytes)
  }

  apply(writes: Writes): void {
    for (const { type, id, record } of writes.records) {
      if (record === undefined) this.records.get(type)?.delete(id)
      else this.records.get(type)?.set(id, record)
    }
    for (const { index, id, before, after } of writes.entries) {
      if (before !== undefined) this.#removeEntry(index, before, id)
      if (after !== undefined) this.#addEntry(index, after, id)
    }
    for (const { key, bytes } of writes.blobs) {
      if (bytes === undefined) this.blobs.delete(key)
      else this.blobs.set(key, new Uint8Array(bytes))
    }
    for (const { event } of writes.events) this.events.push({ sequence: ++this.lastSequence, event })
  }

  #addEntry(index: string, score: number, id: string): void {
    let entries = this.indexes.get(index)
    if (entries === undefined) {
      entries = []
      this.indexes.set(index, entries)
    }
    entries.splice(place(entries, score, id), 0, { index, score, id })
    let scores = this.scores.get(index)
    if (scores === undefined) {
      scores = new Map()
      this.scores.set(index, scores)
    }
    scores.set(id, score)
  }

  #removeEntry(index: string, score: number, id: string): void {
    const entries = this.indexes.get(index)
    if (entries === undefined) return
    const at = place(entries, score, id)
    if (entries[at]?.id === id) entries.splice(at, 1)
    this.scores.get(index)?.delete(id)
    if (entries.length === 0) {
      this.indexes.delete(index)
      this.scores.delete(index)
    }
  }

  /** Where a range's first entry stands. */
  #start(entries: readonly IndexEntry[], range: Range): number {
    const { from } = range
    if (range.reverse === true) {
      if (from === undefined) return entries.length - 1
      // Without an id the whole score counts: begin behind its last entry.
      return (from.id === undefined ? place(entries, from.score, '\uffff') : place(entries, from.score, from.id)) - 1
    }
    if (from === undefined) return 0
    const at = place(entries, from.score, from.id ?? '')
    return from.id !== undefined && entries[at]?.score === from.score && entries[at].id === from.id ? at + 1 : at
  }
}

/** The place of the first entry that is not before (score, id). */
function place(entries: readonly IndexEntry[], score: number, id: string): number {
  let low = 0
  let high = entries.length
  while (low < high) {
    const middle = (low + high) >>> 1
    const entry = entries[middle]
    if (entry !== undefined && compareEntries(entry, { score, id }) < 0) low = middle + 1
    else high = middle
  }
  return low
}
