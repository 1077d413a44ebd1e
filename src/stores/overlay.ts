/**
 * The transaction that the kernel sees on stores where it runs in the process: writes are collected in front of the
 * stored data, reads see them, and a faulty operation's are taken back. At the end the store applies what is left.
 */
import {
  CALL_REPLY_BYTES,
  CALL_WORK_LIMIT,
  DUE_INDEX,
  OPERATION_WORK_LIMIT,
  entriesOf,
  isReadyIndex,
  operations,
  packEvent,
  packRecord,
  unpackRecord,
} from '../kernel/index.ts'
import type {
  AnyRecord,
  Cell,
  IndexEntry,
  Instant,
  OperationName,
  Range,
  RecordType,
  RecordTypes,
  Tx,
} from '../kernel/index.ts'
import type { Answer, Call, Partition, Wake } from './store.ts'

/** What a store can read of one partition as it stood when the batch began. */
export interface StoredData {
  record(type: RecordType, id: string): Cell[] | undefined
  /** In the order of the range; at most its limit. */
  range(range: Range): IndexEntry[]
  count(range: Range): number
  score(index: string, id: string): number | undefined
  blob(key: string): Uint8Array | undefined
}

/** What a batch leaves to be written. */
export interface Writes {
  readonly records: readonly RecordWrite[]
  readonly entries: readonly EntryWrite[]
  readonly blobs: readonly { readonly key: string; readonly bytes: Uint8Array | undefined }[]
  readonly events: readonly Cell[][]
}

export interface RecordWrite {
  readonly type: RecordType
  readonly id: string
  /** Undefined removes it. */
  readonly cells: Cell[] | undefined
  readonly existed: boolean
}

/** An index entry as it was and as it shall be; undefined on either side means that there is none. */
export interface EntryWrite {
  readonly index: string
  readonly id: string
  readonly before: number | undefined
  readonly after: number | undefined
}

interface HeldRecord {
  readonly type: RecordType
  readonly id: string
  readonly stored: boolean
  cells: Cell[] | undefined
  entries: readonly IndexEntry[] | undefined
  changed: boolean
}

interface HeldEntry {
  readonly before: number | undefined
  after: number | undefined
}

class Fault {
  readonly reason: string
  readonly recordId: string
  constructor(reason: string, recordId: string) {
    this.reason = reason
    this.recordId = recordId
  }
}

export class Overlay {
  readonly #data: StoredData
  readonly #now: Instant
  readonly #records = new Map<string, HeldRecord>()
  readonly #indexes = new Map<string, Map<string, HeldEntry>>()
  readonly #blobs = new Map<string, Uint8Array | undefined>()
  readonly #events: Cell[][] = []
  readonly #tx: Tx
  /** Steps that take the running operation's writes back, newest last. */
  #undo: (() => void)[] = []
  #operationWork = 0
  #callWork = 0
  #callBlobs: readonly Uint8Array[] = []
  #replyBlobs: Uint8Array[] = []
  #replyBytes = 0

  constructor(data: StoredData, now: Instant) {
    this.#data = data
    this.#now = now
    this.#tx = this.#makeTx()
  }

  /** Runs operations in order until the call has done enough. */
  runAll(calls: readonly Call[]): Answer[] {
    return calls.map((call) => {
      if (this.#callWork >= CALL_WORK_LIMIT || this.#replyBytes >= CALL_REPLY_BYTES) return { kind: 'not_run' }
      return this.#runOne(call)
    })
  }

  writes(): Writes {
    const records: RecordWrite[] = []
    for (const held of this.#records.values()) {
      if (held.changed && (held.stored || held.cells !== undefined)) {
        records.push({ type: held.type, id: held.id, cells: held.cells, existed: held.stored })
      }
    }
    const entries: EntryWrite[] = []
    for (const [index, held] of this.#indexes) {
      for (const [id, entry] of held) {
        if (entry.before !== entry.after) entries.push({ index, id, before: entry.before, after: entry.after })
      }
    }
    const blobs = [...this.#blobs].map(([key, bytes]) => ({ key, bytes }))
    return { records, entries, blobs, events: this.#events }
  }

  /** What others should be told once the writes have been applied; undefined if nothing was written. */
  wake(partition: Partition): Wake | undefined {
    const ready: string[] = []
    let dueAt: Instant | undefined
    for (const [index, held] of this.#indexes) {
      const isReady = isReadyIndex(index)
      if (!isReady && index !== DUE_INDEX) continue
      for (const entry of held.values()) {
        if (entry.after === undefined || entry.before === entry.after) continue
        if (!isReady) {
          dueAt = Math.min(dueAt ?? entry.after, entry.after)
        } else if (entry.before === undefined) {
          ready.push(index)
          break
        }
      }
    }
    const hasEvents = this.#events.length > 0
    if (!hasEvents && ready.length === 0 && dueAt === undefined) return undefined
    return { partition, ready, dueAt, hasEvents }
  }

  #runOne<N extends OperationName>(call: Call<N>): Answer<N> {
    this.#undo = []
    this.#operationWork = 0
    this.#callBlobs = call.blobs
    this.#replyBlobs = []
    const operation = operations[call.operation] as (tx: Tx, input: Call<N>['input']) => Extract<Answer<N>, { kind: 'answered' }>['result']
    try {
      const result = operation(this.#tx, call.input)
      this.#callWork += this.#operationWork
      return { kind: 'answered', result, blobs: this.#replyBlobs }
    } catch (error) {
      for (const step of this.#undo.reverse()) step()
      if (error instanceof Fault) return { kind: 'fault', reason: error.reason, recordId: error.recordId }
      throw error
    }
  }

  #makeTx(): Tx {
    return {
      now: this.#now,
      get: (type, id) => this.#get(type, id),
      getMany: (type, ids) => this.#getMany(type, ids),
      put: (record) => this.#put(record),
      remove: (type, id) => this.#remove(type, id),
      range: (range) => this.#range(range),
      scan: (range, type) => this.#getMany(type, this.#range(range).map((entry) => entry.id)),
      countUpTo: (range) => (this.#indexes.has(range.index) ? this.#range(range).length : this.#data.count(range)),
      score: (index, id) => this.#entry(index, id).after,
      repair: (index, id, score) => this.#setEntry(index, id, this.#data.score(index, id), score),
      emit: (event) => {
        this.#events.push(packEvent(event))
        this.#undo.push(() => void this.#events.pop())
      },
      keep: (key, blob) => this.#setBlob(key, this.#callBlobs[blob] ?? this.#fail(`blob ${blob} did not come with the call`, key)),
      forget: (key) => this.#setBlob(key, undefined),
      send: (key) => this.#send(key),
      room: () => OPERATION_WORK_LIMIT - this.#operationWork,
      fault: (reason, recordId) => this.#fail(reason, recordId),
    }
  }

  #fail(reason: string, recordId: string): never {
    // eslint-disable-next-line @typescript-eslint/only-throw-error -- caught in #runOne and turned into an answer
    throw new Fault(reason, recordId)
  }

  #held(type: RecordType, id: string): HeldRecord {
    const key = `${type} ${id}`
    let held = this.#records.get(key)
    if (held === undefined) {
      const cells = this.#data.record(type, id)
      held = { type, id, stored: cells !== undefined, cells, entries: undefined, changed: false }
      this.#records.set(key, held)
    }
    return held
  }

  #get<T extends RecordType>(type: T, id: string): RecordTypes[T] | undefined {
    const { cells } = this.#held(type, id)
    return cells === undefined ? undefined : unpackRecord(type, cells)
  }

  #getMany<T extends RecordType>(type: T, ids: string[]): RecordTypes[T][] {
    return ids.map((id) => this.#get(type, id)).filter((record) => record !== undefined)
  }

  #put(record: AnyRecord): void {
    this.#write(this.#held(record.type, record.id), packRecord(record), entriesOf(record))
  }

  #remove(type: RecordType, id: string): void {
    this.#write(this.#held(type, id), undefined, [])
  }

  #write(held: HeldRecord, cells: Cell[] | undefined, entries: readonly IndexEntry[]): void {
    if (this.#operationWork >= OPERATION_WORK_LIMIT) this.#fail('the operation writes more records than it may', held.id)
    this.#operationWork += 1
    const before = held.entries ?? (held.cells === undefined ? [] : entriesOf(unpackRecord(held.type, held.cells)))
    const { cells: oldCells, entries: oldEntries, changed } = held
    this.#undo.push(() => {
      held.cells = oldCells
      held.entries = oldEntries
      held.changed = changed
    })
    held.cells = cells
    held.entries = entries
    held.changed = true
    for (const entry of before) {
      if (!entries.some((other) => other.index === entry.index)) this.#setEntry(entry.index, entry.id, entry.score, undefined)
    }
    for (const entry of entries) {
      const old = before.find((other) => other.index === entry.index)
      if (old?.score !== entry.score) this.#setEntry(entry.index, entry.id, old?.score, entry.score)
    }
  }

  /** `stored` is what the entry was before this batch, should the batch not have touched it yet. */
  #setEntry(index: string, id: string, stored: number | undefined, after: number | undefined): void {
    let held = this.#indexes.get(index)
    if (held === undefined) {
      held = new Map()
      this.#indexes.set(index, held)
    }
    const touched = held
    const entry = touched.get(id)
    if (entry === undefined) {
      touched.set(id, { before: stored, after })
      this.#undo.push(() => void touched.delete(id))
    } else {
      const old = entry.after
      entry.after = after
      this.#undo.push(() => {
        entry.after = old
      })
    }
  }

  #entry(index: string, id: string): HeldEntry {
    const held = this.#indexes.get(index)?.get(id)
    if (held !== undefined) return held
    const before = this.#data.score(index, id)
    return { before, after: before }
  }

  #range(range: Range): IndexEntry[] {
    const touched = this.#indexes.get(range.index)
    if (touched === undefined || touched.size === 0) return this.#data.range(range)
    const stored = this.#data.range({ ...range, limit: range.limit + touched.size })
    const merged = stored.filter((entry) => !touched.has(entry.id))
    for (const [id, entry] of touched) {
      if (entry.after !== undefined && inRange(range, entry.after, id)) {
        merged.push({ index: range.index, score: entry.after, id })
      }
    }
    merged.sort(range.reverse === true ? (a, b) => compareEntries(b, a) : compareEntries)
    return merged.slice(0, range.limit)
  }

  #setBlob(key: string, bytes: Uint8Array | undefined): void {
    const had = this.#blobs.has(key)
    const old = this.#blobs.get(key)
    this.#undo.push(() => {
      if (had) this.#blobs.set(key, old)
      else this.#blobs.delete(key)
    })
    this.#blobs.set(key, bytes)
  }

  #send(key: string): number | undefined {
    const bytes = this.#blobs.has(key) ? this.#blobs.get(key) : this.#data.blob(key)
    if (bytes === undefined) return undefined
    this.#replyBytes += bytes.byteLength
    return this.#replyBlobs.push(bytes) - 1
  }
}

interface Place {
  readonly score: number
  readonly id: string
}

/** The order of every index: by score, then by id. */
export function compareEntries(a: Place, b: Place): number {
  return a.score - b.score || (a.id < b.id ? -1 : a.id > b.id ? 1 : 0)
}

export function inRange(range: Range, score: number, id: string): boolean {
  const { from, to } = range
  const sign = range.reverse === true ? -1 : 1
  if (to !== undefined && (score - to) * sign > 0) return false
  if (from === undefined) return true
  if (from.id === undefined) return (score - from.score) * sign >= 0
  return compareEntries({ score, id }, { score: from.score, id: from.id }) * sign > 0
}
