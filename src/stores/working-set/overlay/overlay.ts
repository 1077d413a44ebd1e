/**
 * The transaction of the kernel: writes are buffered over the stored data, reads see them, and the writes of an operation that
 * faults are undone. The overlay tracks what each operation touched, so that a store can commit independent groups of a batch
 * under conditions.
 */
import {
  BATCH_REPLY_BYTES,
  BATCH_WORK_LIMIT,
  READS_PER_UNIT,
  concernsHolder,
  copyRecord,
  entriesOf,
  eventOf,
  operations,
  refuseOutside,
  workLimitOf,
} from '../../../kernel/index.ts'
import type {
  AnyRecord,
  EventDetail,
  EventSubject,
  EventType,
  IndexEntry,
  Instant,
  OperationName,
  OperationResult,
  Range,
  RecordType,
  RecordTypes,
  Tx,
} from '../../../kernel/index.ts'
import type { Answer, Call } from '../../store.ts'
import { BatchGroups } from './batch-groups.ts'
import type { BatchOutcome } from './batch-groups.ts'
import { isShared, newlyHeld, recordWrite } from './held-record.ts'
import type { HeldBlob, HeldEvent, HeldRecord, LateBlob } from './held-record.ts'
import { IndexOverlay } from './index-overlay.ts'
import type { ChangedEntry } from './index-overlay.ts'
import { UNREADABLE } from './stored-data.ts'
import type { RecordWrite, StoredData, Writes } from './stored-data.ts'
import { Undo } from './undo.ts'
import { runVerified } from './verified-tx.ts'

class Fault {
  readonly reason: string
  readonly recordId: string
  constructor(reason: string, recordId: string) {
    this.reason = reason
    this.recordId = recordId
  }
}

const NO_ENTRIES: readonly IndexEntry[] = []
const NO_BYTES = new Uint8Array()

export class Overlay {
  readonly #data: StoredData
  readonly #now: Instant
  readonly #records = new Map<RecordType, Map<string, HeldRecord>>()
  /** The same records, in the order of their first use. */
  readonly #touched: HeldRecord[] = []
  readonly #shared: { readonly held: HeldRecord; readonly operation: number }[] = []
  readonly #indexes = new Map<string, IndexOverlay>()
  readonly #blobs = new Map<string, HeldBlob>()
  readonly #events: HeldEvent[] = []
  readonly #late: LateBlob[] = []
  readonly #held = { blobs: this.#blobs, events: this.#events, late: this.#late }
  readonly #groups = new BatchGroups()
  readonly #tx: Tx
  readonly #undo = new Undo(this.#held)
  /** The number of the running operation. */
  #own = 0
  /** The same, or the number of its running part. */
  #operation = 0
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

  /** Runs operations in order until the batch reaches its limits. */
  runAll(calls: readonly Call[]): Answer[] {
    return calls.map((call) => this.run(call))
  }

  run<N extends OperationName>(call: Call<N>): Answer<N> {
    if (this.#callWork >= BATCH_WORK_LIMIT || this.#replyBytes >= BATCH_REPLY_BYTES) {
      this.#groups.add()
      return { kind: 'not_run' }
    }
    return this.#runOne(call)
  }

  /** All writes of the batch. */
  writes(): Writes {
    const records: RecordWrite[] = []
    for (const held of this.#touched) {
      const write = recordWrite(held)
      if (write !== undefined) records.push(write)
    }
    return { records, entries: this.#entries(), blobs: [...this.#blobs.values()], events: this.#events }
  }

  /** The reads and writes of the batch, and the groups of its operations. */
  outcome(): BatchOutcome {
    const touched = this.#shared.length === 0 ? this.#touched : [...this.#touched, ...this.#sharedReads()]
    const blobs = [...this.#blobs.values()]
    return this.#groups.collect(touched, this.#entries(), blobs, this.#events, this.#late, this.#data)
  }

  /** Grouped by index. */
  #entries(): ChangedEntry[] {
    const entries: ChangedEntry[] = []
    for (const { changed } of this.#indexes.values()) {
      for (const entry of changed.values()) if (entry.before !== entry.after) entries.push(entry)
    }
    return entries
  }

  #runOne<N extends OperationName>(call: Call<N>): Answer<N> {
    this.#own = this.#groups.add()
    this.#operation = this.#own
    this.#undo.begin()
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
      const outside = refuseOutside(this.#tx, call.input) as OperationResult<N> | undefined
      const result = outside ?? runVerified(this.#tx, call, operation, (type, id) => this.#get(type, id))
      this.#callWork += this.#undo.recordCount
      return { kind: 'answered', result, blobs: this.#replyBlobs }
    } catch (error) {
      this.#undo.run()
      this.#replyBytes = replyBytesBefore
      if (error instanceof Fault) {
        this.#groups.fault(this.#own)
        return { kind: 'fault', reason: error.reason, recordId: error.recordId }
      }
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
      has: (type, id) => this.#touch(type, id).current !== undefined,
      getMany: (type, ids) => this.#getMany(type, ids),
      put: (record) => this.#put(record),
      remove: (type, id) => this.#remove(type, id),
      range: (range) => this.#readIndex(range.index).range(range),
      scan: (range, type) => this.#scan(range, type),
      countUpTo: (range) => this.#readIndex(range.index).count(range),
      score: (index, id, expected) => this.#readIndex(index).score(id, expected),
      repair: (index, id, score, standsAt) =>
        this.#setEntry(index, id, standsAt ?? this.#data.score(index, id, score), score),
      emit: (type, subject, detail) => this.#emit(type, subject, detail),
      keep: (key, blob) =>
        this.#setBlob(key, this.#callBlobs[blob] ?? this.#fail('a blob did not come with the call', key)),
      copy: (from, to) => this.#copyBlob(from, to),
      forget: (key) => this.#setBlob(key, undefined),
      send: (key, size) => this.#send(key, size),
      hides: (index) => this.#data.hides?.(index) === true,
      room: () => Math.max(0, this.#workLimit - this.#undo.recordCount - Math.floor(this.#readCount / READS_PER_UNIT)),
      part: (run) => this.#runPart(run),
      fault: (reason, recordId) => this.#fail(reason, recordId),
    }
  }

  /** A part that throws fails its operation. */
  #runPart(run: () => object | undefined): void {
    this.#operation = this.#groups.addPart()
    const report = run()
    if (report !== undefined) this.#groups.report(this.#operation, report)
    this.#operation = this.#own
  }

  #fail(reason: string, recordId: string): never {
    // eslint-disable-next-line @typescript-eslint/only-throw-error -- caught in #runOne and turned into an answer
    throw new Fault(reason, recordId)
  }

  /** Returns a record within the batch. The running operation depends on it from now on. */
  #touch(type: RecordType, id: string): HeldRecord {
    let ofType = this.#records.get(type)
    if (ofType === undefined) {
      ofType = new Map()
      this.#records.set(type, ofType)
    }
    let held = ofType.get(id)
    if (held === undefined) {
      const found = this.#data.find(type, id)
      held = newlyHeld(type, id, found, this.#operation)
      ofType.set(id, held)
      this.#touched.push(held)
    } else if (held.operation !== this.#operation) {
      if (isShared(held)) this.#share(held)
      else {
        this.#groups.join(held.operation, this.#operation)
        held.operation = this.#operation
      }
    }
    return held
  }

  /** Notes one more reader of a record that operations read without depending on each other. */
  #share(held: HeldRecord): void {
    const last = this.#shared.at(-1)
    if (last?.held !== held || last.operation !== this.#operation)
      this.#shared.push({ held, operation: this.#operation })
  }

  /** Returns the reads of shared records by groups that have not read them otherwise. Each group has a condition of its own. */
  #sharedReads(): HeldRecord[] {
    const reads: HeldRecord[] = []
    const groupsOf = new Map<HeldRecord, Set<number>>()
    for (const { held, operation } of this.#shared) {
      let groups = groupsOf.get(held)
      if (groups === undefined) {
        groups = new Set([this.#groups.rootOf(held.operation)])
        groupsOf.set(held, groups)
      }
      const group = this.#groups.rootOf(operation)
      if (groups.has(group)) continue
      groups.add(group)
      reads.push({ ...held, operation })
    }
    return reads
  }

  #get<T extends RecordType>(type: T, id: string): RecordTypes[T] | undefined {
    const { current } = this.#touch(type, id)
    if (current === undefined) return undefined
    if (current === UNREADABLE) return this.#fail('the record cannot be read', id)
    return copyRecord(current as RecordTypes[T])
  }

  /** Skips unreadable records, so that a damaged one does not fail a listing. */
  #getMany<T extends RecordType>(type: T, ids: string[]): RecordTypes[T][] {
    this.#readCount += ids.length
    const found: RecordTypes[T][] = []
    for (const id of ids) {
      const { current } = this.#touch(type, id)
      if (current !== undefined && current !== UNREADABLE) found.push(copyRecord(current as RecordTypes[T]))
    }
    return found
  }

  #scan<T extends RecordType>(range: Range, type: T): RecordTypes[T][] {
    const entries = this.#readIndex(range.index).range(range)
    return this.#getMany(
      type,
      entries.map((entry) => entry.id),
    )
  }

  #put(record: AnyRecord): void {
    const kept = copyRecord(record)
    this.#write(this.#touch(record.type, record.id), kept, entriesOf(kept))
  }

  #remove(type: RecordType, id: string): void {
    this.#write(this.#touch(type, id), undefined, NO_ENTRIES)
  }

  #write(held: HeldRecord, record: AnyRecord | undefined, after: readonly IndexEntry[]): void {
    const isFirst = held.writer !== this.#own
    if (isFirst && this.#undo.recordCount >= this.#workLimit) {
      this.#fail('the operation writes more records than it may', held.id)
    }
    const before = this.#entriesOf(held)
    if (this.#shared.length > 0) this.#joinReaders(held)
    if (isFirst) this.#undo.record(held)
    held.writer = this.#own
    held.current = record
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

  /** Those who have read a record must not run again after one that writes it. */
  #joinReaders(held: HeldRecord): void {
    for (const read of this.#shared) if (read.held === held) this.#groups.join(read.operation, this.#operation)
    if (held.operation !== this.#operation) this.#groups.join(held.operation, this.#operation)
    held.operation = this.#operation
  }

  #entriesOf(held: HeldRecord): readonly IndexEntry[] {
    if (held.entries !== undefined) return held.entries
    if (held.current === undefined) return NO_ENTRIES
    if (held.current === UNREADABLE) return this.#fail('the record cannot be read', held.id)
    return held.found?.entries ?? entriesOf(held.current)
  }

  /** Returns an index for reading. The running operation depends on those that changed it, unless the read is only a hint. */
  #readIndex(name: string): IndexOverlay {
    const index = this.#index(name)
    this.#groups.read(this.#operation, index)
    const flowId = this.#data.recalledFlow?.(name)
    if (flowId !== undefined) this.#touch('flow', flowId)
    return index
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
    const overlay = this.#index(index)
    this.#groups.change(this.#operation, overlay)
    this.#undo.entry(overlay.set(id, stored, after, this.#operation))
  }

  #emit(type: EventType, subject: EventSubject, detail: EventDetail): void {
    const event = eventOf(type, subject, detail, this.#now)
    this.#events.push({ event, isForHolder: concernsHolder(type, detail), operation: this.#operation })
  }

  #setBlob(key: string, bytes: Uint8Array | undefined): void {
    const old = this.#blobs.get(key)
    this.#undo.blob(key)
    const mayExist = bytes === undefined || old?.mayExist === true
    this.#blobs.set(key, { key, bytes, mayExist, operation: this.#operation })
  }

  /** The bytes are needed before the commit, also where a store sends them late. */
  #copyBlob(from: string, to: string): void {
    const written = this.#blobs.get(from)
    const bytes = written === undefined ? this.#data.blob(from) : written.bytes
    if (bytes !== undefined) this.#setBlob(to, bytes)
  }

  #send(key: string, size: number): number | undefined {
    const written = this.#blobs.get(key)
    if (written === undefined && this.#data.sendsLate === true) return this.#sendLate(key, size)
    const bytes = written === undefined ? this.#data.blob(key) : written.bytes
    if (bytes === undefined) return undefined
    this.#replyBytes += bytes.byteLength
    return this.#replyBlobs.push(bytes) - 1
  }

  #sendLate(key: string, size: number): number {
    this.#replyBytes += size
    const place = this.#replyBlobs.push(NO_BYTES) - 1
    this.#late.push({ operation: this.#operation, key, into: this.#replyBlobs, place })
    return place
  }
}

/** A record may have several entries in an index, as an execution has one for each open waitpoint. */
function scoreIn(entries: readonly IndexEntry[], index: string, id: string): number | undefined {
  for (const entry of entries) if (entry.index === index && entry.id === id) return entry.score
  return undefined
}
