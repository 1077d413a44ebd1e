/** A store that lives in the process and ends with it: for tests and for trying things out. Its clock can be moved. */
import { recordTypes, unpackEvent, unpackRecord } from '../../kernel/index.ts'
import type { Cell, IndexEntry, Range, RecordType } from '../../kernel/index.ts'
import type { Runtime } from '../../runtime/index.ts'
import { compareEntries, inRange } from '../working-set/index-overlay.ts'
import { Overlay } from '../working-set/overlay.ts'
import type {
  Answer,
  Call,
  EventPage,
  Partition,
  PartitionDump,
  Store,
  StoreReport,
  StoreSettings,
  StoredEvent,
  Wake,
} from '../store.ts'
import type { StoredData, Writes } from '../working-set/stored-data.ts'
import { WakeListeners } from '../wake-listeners.ts'

class MemoryPartition implements StoredData {
  readonly records = new Map<RecordType, Map<string, Cell[]>>(recordTypes.map((type) => [type, new Map()]))
  readonly indexes = new Map<string, IndexEntry[]>()
  readonly scores = new Map<string, Map<string, number>>()
  readonly blobs = new Map<string, Uint8Array>()
  events: { sequence: number; cells: Cell[] }[] = []
  lastSequence = 0

  record(type: RecordType, id: string): Cell[] | undefined {
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
    for (const { type, id, kept } of writes.records) {
      if (kept === undefined) this.records.get(type)?.delete(id)
      else this.records.get(type)?.set(id, kept.cells)
    }
    for (const { index, id, before, after } of writes.entries) {
      if (before !== undefined) this.#removeEntry(index, before, id)
      if (after !== undefined) this.#addEntry(index, after, id)
    }
    for (const { key, bytes } of writes.blobs) {
      if (bytes === undefined) this.blobs.delete(key)
      else this.blobs.set(key, new Uint8Array(bytes))
    }
    for (const { cells } of writes.events) this.events.push({ sequence: ++this.lastSequence, cells })
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

export class MemoryStore implements Store {
  readonly settings: StoreSettings
  readonly #runtime: Runtime
  readonly #partitions = new Map<Partition, MemoryPartition>()
  readonly #listeners = new WakeListeners()

  constructor(runtime: Runtime, settings: StoreSettings) {
    this.#runtime = runtime
    this.settings = settings
  }

  run(partition: Partition, calls: readonly Call[]): Promise<Answer[]> {
    const data = this.#partition(partition)
    const overlay = new Overlay(data, this.#runtime.now())
    const answers = overlay.runAll(calls)
    const wake = overlay.wake(partition, data.lastSequence)
    data.apply(overlay.writes())
    if (wake !== undefined) this.#listeners.tell(wake)
    return Promise.resolve(answers)
  }

  readEvents(partition: Partition, after: number, limit: number): Promise<EventPage> {
    const { events, lastSequence } = this.#partition(partition)
    const firstSequence = events[0]?.sequence ?? lastSequence + 1
    const start = Math.max(0, after + 1 - firstSequence)
    return Promise.resolve({ events: events.slice(start, start + limit).map(readEvent), firstSequence, lastSequence })
  }

  trimEvents(partition: Partition, olderThan: number, keepCount: number): Promise<number> {
    const data = this.#partition(partition)
    const excess = data.events.length - keepCount
    const firstKept = data.events.findIndex((event, i) => i >= excess && readEvent(event).at >= olderThan)
    const trimmed = firstKept === -1 ? data.events.length : firstKept
    data.events = data.events.slice(trimmed)
    return Promise.resolve(trimmed)
  }

  onWake(listener: (wake: Wake) => void): () => void {
    return this.#listeners.add(listener)
  }

  report(): Promise<StoreReport> {
    return Promise.resolve({
      kind: 'memory',
      version: '1',
      location: 'this process',
      durability: 'none: everything is gone when the process ends',
      warnings: ['Nothing is kept when the process ends. Use sqlite:<file> for work that must not get lost.'],
    })
  }

  dump(partition: Partition): Promise<PartitionDump> {
    const data = this.#partition(partition)
    return Promise.resolve({
      records: [...data.records].flatMap(([type, records]) =>
        [...records.values()].map((cells) => unpackRecord(type, cells)),
      ),
      entries: [...data.indexes.values()].flat(),
      blobKeys: [...data.blobs.keys()],
      events: data.events.map(readEvent),
    })
  }

  close(): Promise<void> {
    this.#listeners.clear()
    return Promise.resolve()
  }

  #partition(name: Partition): MemoryPartition {
    let partition = this.#partitions.get(name)
    if (partition === undefined) {
      partition = new MemoryPartition()
      this.#partitions.set(name, partition)
    }
    return partition
  }
}

function readEvent(event: { sequence: number; cells: Cell[] }): StoredEvent {
  return { sequence: event.sequence, ...unpackEvent(event.cells) }
}
