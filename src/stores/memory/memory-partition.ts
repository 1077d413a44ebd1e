/** One partition of the memory store: records, indexes, blobs and the event log. */
import { recordTypes } from '../../kernel/index.ts'
import type { AnyRecord, FabricEvent, IndexEntry, Range, RecordType } from '../../kernel/index.ts'
import type { FoundRecord, StoredData, Writes } from '../working-set/overlay/stored-data.ts'
import { SortedIndex } from './sorted-index.ts'

export interface KeptEvent {
  readonly sequence: number
  readonly event: FabricEvent
}

export class MemoryPartition implements StoredData {
  readonly records = new Map<RecordType, Map<string, AnyRecord>>(recordTypes.map((type) => [type, new Map()]))
  readonly indexes = new Map<string, SortedIndex>()
  readonly blobs = new Map<string, Uint8Array>()
  events: KeptEvent[] = []
  lastSequence = 0

  find(type: RecordType, id: string): FoundRecord | undefined {
    const record = this.records.get(type)?.get(id)
    return record === undefined ? undefined : { record }
  }

  range(range: Range): IndexEntry[] {
    return this.indexes.get(range.index)?.range(range) ?? []
  }

  count(range: Range): number {
    return this.range(range).length
  }

  score(index: string, id: string): number | undefined {
    return this.indexes.get(index)?.scoreOf(id)
  }

  /** Returns a copy, as other stores do: the caller may change it. */
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
      entries = new SortedIndex()
      this.indexes.set(index, entries)
    }
    entries.add({ index, score, id })
  }

  #removeEntry(index: string, score: number, id: string): void {
    const entries = this.indexes.get(index)
    if (entries === undefined) return
    entries.remove(score, id)
    if (entries.isEmpty) this.indexes.delete(index)
  }
}
