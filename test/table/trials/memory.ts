/**
 * A store in miniature: records as packed cells, ordered index entries, blobs and events. It runs one operation at a time and
 * undoes everything that a faulty one wrote.
 */
import {
  OPERATION_WORK_LIMIT,
  READS_PER_UNIT,
  compareKeyed,
  entriesOf,
  eventOf,
  joinName,
  packEvent,
  packRecord,
  unpackEvent,
  unpackRecord,
} from '../../../src/kernel/index.ts'
import type {
  AnyRecord,
  Cell,
  FabricEvent,
  IndexEntry,
  Instant,
  Range,
  RecordType,
  RecordTypes,
  Tx,
} from '../../../src/kernel/index.ts'
import { canonicalText, nameText } from './canonical-text.ts'
import { faultIn, stop } from './fault.ts'
import type { Fault } from './fault.ts'

interface StoredRecord {
  readonly type: RecordType
  readonly id: string
  readonly cells: Cell[]
}

export interface Memory {
  readonly records: Map<string, StoredRecord>
  readonly indexes: Map<string, readonly IndexEntry[]>
  readonly blobs: Map<string, string>
  readonly events: Cell[][]
  /** Steps that take the running operation's writes back, newest last. */
  readonly undo: (() => void)[]
}

/** What an operation came to. Bytes are text here. */
export type Said<R> =
  | { readonly kind: 'answered'; readonly result: R; readonly blobs: string[] }
  | { readonly kind: 'fault'; readonly fault: Fault }

export function newMemory(): Memory {
  return { records: new Map(), indexes: new Map(), blobs: new Map(), events: [], undo: [] }
}

/** What is stored is replaced and never changed, so that a copy shares it. */
export function copyMemory({ records, indexes, blobs, events }: Memory): Memory {
  return { records: new Map(records), indexes: new Map(indexes), blobs: new Map(blobs), events: [...events], undo: [] }
}

/** Runs one operation as a store would: all of its writes are kept, or none. */
export function runOperation<R>(
  memory: Memory,
  now: Instant,
  callBlobs: readonly string[],
  operation: (tx: Tx) => R,
): Said<R> {
  const replyBlobs: string[] = []
  memory.undo.length = 0
  try {
    return { kind: 'answered', result: operation(beginTx(memory, now, callBlobs, replyBlobs)), blobs: replyBlobs }
  } catch (error) {
    for (const step of memory.undo.reverse()) step()
    return { kind: 'fault', fault: faultIn(error) }
  }
}

export function storedRecord<T extends RecordType>(memory: Memory, type: T, id: string): RecordTypes[T] | undefined {
  const stored = memory.records.get(joinName(type, id))
  return stored === undefined ? undefined : unpackRecord(type, stored.cells)
}

export function storedRecords(memory: Memory): AnyRecord[] {
  return [...memory.records.values()].map(({ type, cells }) => unpackRecord(type, cells))
}

export function storedEntries(memory: Memory): IndexEntry[] {
  return [...memory.indexes.values()].flat()
}

export function storedEvents(memory: Memory, from: number): FabricEvent[] {
  return memory.events.slice(from).map(unpackEvent)
}

/** Everything in the store except its events: records in their packed form, index entries, blobs. */
export function storedText(memory: Memory): string {
  const lines = [
    ...[...memory.records].map(([key, { cells }]) => `${nameText(key)} ${canonicalText(cells)}`),
    ...storedEntries(memory).map(entryText),
    ...[...memory.blobs].map(([key, bytes]) => `${nameText(joinName('blob', key))} ${bytes}`),
  ]
  return lines.sort().join('\n')
}

function entryText(entry: IndexEntry): string {
  return `${nameText(joinName('index', entry.index))} ${entry.score} ${entry.id}`
}

function beginTx(memory: Memory, now: Instant, callBlobs: readonly string[], replyBlobs: string[]): Tx {
  let work = 0
  let reads = 0
  const written = new Set<string>()
  const fail = (reason: string, recordId: string): never => stop({ reason, recordId })
  const count = (type: RecordType, recordId: string): void => {
    const key = joinName(type, recordId)
    if (written.has(key)) return
    if (work >= OPERATION_WORK_LIMIT) fail('the operation writes more records than it may', recordId)
    written.add(key)
    work = work + 1
  }
  return {
    now,
    get: (type, id) => {
      reads = reads + 1
      return storedRecord(memory, type, id)
    },
    has: (type, id) => memory.records.has(joinName(type, id)),
    getMany: (type, ids) => {
      reads = reads + ids.length
      return getMany(memory, type, ids)
    },
    put: (record) => {
      count(record.type, record.id)
      writeRecord(memory, record.type, record.id, record)
    },
    remove: (type, id) => {
      count(type, id)
      writeRecord(memory, type, id, undefined)
    },
    range: (range) => readRange(memory, range),
    scan: (range, type) => {
      const ids = readRange(memory, range).map(({ id }) => id)
      reads = reads + ids.length
      return getMany(memory, type, ids)
    },
    countUpTo: (range) => readRange(memory, range).length,
    hides: () => false,
    part: (run) => void run(),
    score: (index, id) => scoreOf(memory, index, id),
    repair: (index, id, score) => setEntry(memory, index, id, score),
    emit: (type, subject, detail) => {
      memory.events.push(packEvent(eventOf(type, subject, detail, now)))
      memory.undo.push(() => {
        memory.events.pop()
      })
    },
    keep: (key, blob) =>
      assign(memory, memory.blobs, key, callBlobs[blob] ?? fail('a blob did not come with the call', key)),
    copy: (from, to) => {
      const bytes = memory.blobs.get(from)
      if (bytes !== undefined) assign(memory, memory.blobs, to, bytes)
    },
    forget: (key) => assign(memory, memory.blobs, key, undefined),
    send: (key) => {
      const bytes = memory.blobs.get(key)
      if (bytes === undefined) return undefined
      replyBlobs.push(bytes)
      return replyBlobs.length - 1
    },
    room: () => Math.max(0, OPERATION_WORK_LIMIT - work - Math.floor(reads / READS_PER_UNIT)),
    fault: (reason, recordId) => fail(reason, recordId),
  }
}

function getMany<T extends RecordType>(memory: Memory, type: T, ids: readonly string[]): RecordTypes[T][] {
  const found: RecordTypes[T][] = []
  for (const id of ids) {
    const record = storedRecord(memory, type, id)
    if (record !== undefined) found.push(record)
  }
  return found
}

function writeRecord(memory: Memory, type: RecordType, id: string, record: AnyRecord | undefined): void {
  const key = joinName(type, id)
  const before = memory.records.get(key)
  const entriesBefore = before === undefined ? [] : entriesOf(unpackRecord(type, before.cells))
  const entriesAfter = record === undefined ? [] : entriesOf(record)
  assign(memory, memory.records, key, record === undefined ? undefined : { type, id, cells: packRecord(record) })
  for (const entry of entriesBefore) {
    const isLeft = entriesAfter.some((other) => other.index === entry.index && other.id === entry.id)
    if (!isLeft) setEntry(memory, entry.index, entry.id, undefined)
  }
  for (const entry of entriesAfter) setEntry(memory, entry.index, entry.id, entry.score)
}

function setEntry(memory: Memory, index: string, id: string, score: number | undefined): void {
  const after = entriesIn(memory, index).filter((entry) => entry.id !== id)
  if (score !== undefined) {
    const added = { index, score, id }
    const place = after.findIndex((entry) => compareKeyed(added, entry) < 0)
    after.splice(place === -1 ? after.length : place, 0, added)
  }
  assign(memory, memory.indexes, index, after)
}

/** Sets the value of a key, or removes the key. */
function assign<V>(memory: Memory, map: Map<string, V>, key: string, value: V | undefined): void {
  const before = map.get(key)
  setOrDelete(map, key, value)
  memory.undo.push(() => setOrDelete(map, key, before))
}

function setOrDelete<V>(map: Map<string, V>, key: string, value: V | undefined): void {
  if (value === undefined) map.delete(key)
  else map.set(key, value)
}

function entriesIn(memory: Memory, index: string): readonly IndexEntry[] {
  return memory.indexes.get(index) ?? []
}

function scoreOf(memory: Memory, index: string, id: string): number | undefined {
  return entriesIn(memory, index).find((entry) => entry.id === id)?.score
}

function readRange(memory: Memory, range: Range): IndexEntry[] {
  const entries = entriesIn(memory, range.index)
  const found: IndexEntry[] = []
  for (let i = 0; i < entries.length && found.length < range.limit; i++) {
    const entry = entries[range.reverse === true ? entries.length - 1 - i : i]
    if (entry !== undefined && isInRange(range, entry)) found.push(entry)
  }
  return found
}

function isInRange(range: Range, entry: IndexEntry): boolean {
  const sign = range.reverse === true ? -1 : 1
  if (range.to !== undefined && (entry.score - range.to) * sign > 0) return false
  const from = range.from
  if (from === undefined) return true
  if (from.id === undefined) return (entry.score - from.score) * sign >= 0
  const place = { score: from.score, id: from.id }
  return (range.reverse === true ? compareKeyed(entry, place) : compareKeyed(place, entry)) < 0
}
