/**
 * The transaction that the kernel sees on stores where it runs in the process: writes are collected in front of the
 * stored data, reads see them, and a faulty operation's are taken back. At the end the store applies what is left.
 */
import {
  CALL_REPLY_BYTES,
  CALL_WORK_LIMIT,
  DUE_INDEX,
  concernsHolder,
  entriesOf,
  eventOf,
  READS_PER_UNIT,
  isReadyIndex,
  operations,
  packEvent,
  packRecord,
  recordTypes,
  tellsEnd,
  unpackRecord,
  workLimitOf,
} from '../../kernel/index.ts'
import type {
  AnyRecord,
  Cell,
  EventDetail,
  EventSubject,
  EventType,
  ExecutionId,
  IndexEntry,
  Instant,
  OperationName,
  Range,
  RecordType,
  RecordTypes,
  Tx,
} from '../../kernel/index.ts'
import { IndexOverlay } from './index-overlay.ts'
import type { Answer, Call, LogGrowth, Partition, Wake } from '../store.ts'
import type { BlobWrite, EntryWrite, EventWrite, KeptRecord, RecordWrite, StoredData, Writes } from './stored-data.ts'
import { runVerified } from './verified-tx.ts'

interface HeldRecord {
  readonly type: RecordType
  readonly id: string
  /** As it was when the batch began. */
  readonly stored: Cell[] | undefined
  /** As the batch has changed it; undefined also if it removed it. */
  kept: KeptRecord | undefined
  isChanged: boolean
  /** The index entries of the record as the batch sees it, once they were needed. */
  entries: readonly IndexEntry[] | undefined
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
  readonly #records = new Map<RecordType, Map<string, HeldRecord>>(recordTypes.map((type) => [type, new Map()]))
  readonly #indexes = new Map<string, IndexOverlay>()
  readonly #blobs = new Map<string, Omit<BlobWrite, 'key'>>()
  readonly #events: EventWrite[] = []
  readonly #holdersOf: ExecutionId[] = []
  readonly #tx: Tx
  /** Steps that take the running operation's writes back, newest last. */
  #undo: (() => void)[] = []
  /** The records that the running operation has written: however often, each counts once. */
  #written = new Set<HeldRecord>()
  #workLimit = 0
  #readCount = 0
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
    for (const ofType of this.#records.values()) {
      for (const { type, id, stored, kept, isChanged } of ofType.values()) {
        const existed = stored !== undefined
        if (isChanged && (existed || kept !== undefined)) records.push({ type, id, kept, existed })
      }
    }
    const entries: EntryWrite[] = []
    for (const [index, { changed }] of this.#indexes) {
      for (const [id, { before, after }] of changed) {
        if (before !== after) entries.push({ index, id, before, after })
      }
    }
    const blobs = [...this.#blobs].map(([key, { bytes, mayExist }]) => ({ key, bytes, mayExist }))
    return { records, entries, blobs, events: this.#events }
  }

  /**
   * What others should be told once the writes have been applied; undefined if nothing was written. By what the log grows
   * can be told where it is known which event was its last before.
   */
  wake(partition: Partition, lastSequence?: number): Wake | undefined {
    const ready: string[] = []
    let dueAt: Instant | undefined
    for (const [index, { changed }] of this.#indexes) {
      const isReady = isReadyIndex(index)
      if (!isReady && index !== DUE_INDEX) continue
      for (const entry of changed.values()) {
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
    const growth = lastSequence === undefined ? undefined : this.#growth(lastSequence)
    return { partition, ready, dueAt, hasEvents, growth, holdersOf: this.#holdersOf }
  }

  #growth(lastSequence: number): LogGrowth | undefined {
    if (this.#events.length === 0) return undefined
    const ended = this.#events.flatMap(({ event }) => (tellsEnd(event.type) ? [event.executionId] : []))
    return { first: lastSequence + 1, last: lastSequence + this.#events.length, at: this.#now, ended }
  }

  #runOne<N extends OperationName>(call: Call<N>): Answer<N> {
    this.#undo = []
    this.#written = new Set()
    this.#readCount = 0
    this.#workLimit = workLimitOf(call.operation)
    this.#callBlobs = call.blobs
    this.#replyBlobs = []
    const replyBytesBefore = this.#replyBytes
    const operation = operations[call.operation] as (
      tx: Tx,
      input: Call<N>['input'],
    ) => Extract<Answer<N>, { kind: 'answered' }>['result']
    try {
      const result = runVerified(this.#tx, call, operation, (type, id) => this.#get(type, id))
      this.#callWork += this.#written.size
      return { kind: 'answered', result, blobs: this.#replyBlobs }
    } catch (error) {
      for (const step of this.#undo.reverse()) step()
      this.#replyBytes = replyBytesBefore
      if (error instanceof Fault) return { kind: 'fault', reason: error.reason, recordId: error.recordId }
      throw error
    }
  }

  #makeTx(): Tx {
    return {
      now: this.#now,
      get: (type, id) => {
        this.#readCount += 1
        return this.#get(type, id)
      },
      has: (type, id) => cellsOf(this.#held(type, id)) !== undefined,
      getMany: (type, ids) => this.#getMany(type, ids),
      put: (record) => this.#put(record),
      remove: (type, id) => this.#remove(type, id),
      range: (range) => this.#index(range.index).range(range),
      scan: (range, type) => this.#scan(range, type),
      countUpTo: (range) => this.#index(range.index).count(range),
      hides: (index) => this.#data.hides?.(index) ?? false,
      score: (index, id, expected) => this.#index(index).score(id, expected),
      repair: (index, id, score, standsAt) =>
        this.#setEntry(index, id, standsAt ?? this.#data.score(index, id, score), score),
      emit: (type, subject, detail) => this.#emit(type, subject, detail),
      keep: (key, blob) =>
        this.#setBlob(key, this.#callBlobs[blob] ?? this.#fail('a blob did not come with the call', key)),
      forget: (key) => this.#setBlob(key, undefined),
      send: (key) => this.#send(key),
      room: () => Math.max(0, this.#workLimit - this.#written.size - Math.floor(this.#readCount / READS_PER_UNIT)),
      fault: (reason, recordId) => this.#fail(reason, recordId),
    }
  }

  #fail(reason: string, recordId: string): never {
    // eslint-disable-next-line @typescript-eslint/only-throw-error -- caught in #runOne and turned into an answer
    throw new Fault(reason, recordId)
  }

  #held(type: RecordType, id: string): HeldRecord {
    const ofType = this.#records.get(type)
    let held = ofType?.get(id)
    if (held === undefined) {
      held = { type, id, stored: this.#data.record(type, id), kept: undefined, isChanged: false, entries: undefined }
      ofType?.set(id, held)
    }
    return held
  }

  /** Unpacking makes the private copy that an operation may change, so its entries are noted before it is handed out. */
  #get<T extends RecordType>(type: T, id: string): RecordTypes[T] | undefined {
    const held = this.#held(type, id)
    if (cellsOf(held) === undefined) return undefined
    return this.#read(held, type) ?? this.#fail('the record cannot be read', id)
  }

  /** What cannot be read is left out, so that one damaged record does not keep all others from being found. */
  #getMany<T extends RecordType>(type: T, ids: string[]): RecordTypes[T][] {
    this.#readCount += ids.length
    return ids.map((id) => this.#read(this.#held(type, id), type)).filter((record) => record !== undefined)
  }

  #read<T extends RecordType>(held: HeldRecord, type: T): RecordTypes[T] | undefined {
    const cells = cellsOf(held)
    if (cells === undefined) return undefined
    try {
      const record = unpackRecord(type, cells)
      held.entries ??= entriesOf(record)
      return record
    } catch {
      // Values that are not those of its schema: the record was damaged outside.
      return undefined
    }
  }

  #scan<T extends RecordType>(range: Range, type: T): RecordTypes[T][] {
    const entries = this.#index(range.index).range(range)
    return this.#getMany(
      type,
      entries.map((entry) => entry.id),
    )
  }

  #put(record: AnyRecord): void {
    const held = this.#held(record.type, record.id)
    this.#write(held, { record, cells: packRecord(record) }, entriesOf(record))
  }

  #remove(type: RecordType, id: string): void {
    this.#write(this.#held(type, id), undefined, [])
  }

  #write(held: HeldRecord, kept: KeptRecord | undefined, after: readonly IndexEntry[]): void {
    if (this.#written.size >= this.#workLimit && !this.#written.has(held)) {
      this.#fail('the operation writes more records than it may', held.id)
    }
    this.#written.add(held)
    const before = this.#entriesOf(held)
    const { kept: oldKept, isChanged } = held
    this.#undo.push(() => {
      held.kept = oldKept
      held.isChanged = isChanged
      held.entries = before
    })
    held.kept = kept
    held.isChanged = true
    held.entries = after
    for (const { index, id, score } of before) {
      if (scoreIn(after, index, id) === undefined) this.#setEntry(index, id, score, undefined)
    }
    for (const { index, id, score } of after) {
      const old = scoreIn(before, index, id)
      if (old !== score) this.#setEntry(index, id, old, score)
    }
  }

  #entriesOf(held: HeldRecord): readonly IndexEntry[] {
    if (held.entries === undefined) this.#get(held.type, held.id)
    return held.entries ?? []
  }

  #index(name: string): IndexOverlay {
    let index = this.#indexes.get(name)
    if (index === undefined) {
      index = new IndexOverlay(this.#data, name)
      this.#indexes.set(name, index)
    }
    return index
  }

  #setEntry(index: string, id: string, stored: number | undefined, after: number | undefined): void {
    this.#undo.push(this.#index(index).set(id, stored, after))
  }

  #emit(type: EventType, subject: EventSubject, detail: EventDetail): void {
    const event = eventOf(type, subject, detail, this.#now)
    this.#events.push({ event, cells: packEvent(event) })
    this.#undo.push(() => void this.#events.pop())
    // A hint too many, should the operation be taken back, does no harm.
    if (concernsHolder(type, detail)) this.#holdersOf.push(event.executionId)
  }

  #setBlob(key: string, bytes: Uint8Array | undefined): void {
    const old = this.#blobs.get(key)
    this.#undo.push(() => {
      if (old === undefined) this.#blobs.delete(key)
      else this.#blobs.set(key, old)
    })
    this.#blobs.set(key, { bytes, mayExist: bytes === undefined || old?.mayExist === true })
  }

  #send(key: string): number | undefined {
    const written = this.#blobs.get(key)
    const bytes = written === undefined ? this.#data.blob(key) : written.bytes
    if (bytes === undefined) return undefined
    this.#replyBytes += bytes.byteLength
    return this.#replyBlobs.push(bytes) - 1
  }
}

/** The record as the batch sees it. */
function cellsOf(held: HeldRecord): Cell[] | undefined {
  return held.isChanged ? held.kept?.cells : held.stored
}

/** A record may stand in an index under several ids, as an execution does under each of its open waitpoints. */
function scoreIn(entries: readonly IndexEntry[], index: string, id: string): number | undefined {
  for (const entry of entries) if (entry.index === index && entry.id === id) return entry.score
  return undefined
}
