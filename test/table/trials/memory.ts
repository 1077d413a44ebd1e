/**
 * A store in miniature, in the kernel's dialect: records as packed cells, ordered index entries, blobs and events. It
 * runs one operation at a time and takes everything back that a faulty one wrote.
 */
import {
  OPERATION_WORK_LIMIT,
  READS_PER_UNIT,
  comesBefore,
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
import { canonicalText, nameText, numberText, sortedText } from './canonical-text.ts'
import type { Fault, Platform } from './platform.ts'

interface StoredRecord {
  readonly type: RecordType
  readonly id: string
  readonly cells: Cell[]
}

/** Names are remembered in lists of their own, because the dialect cannot loop over the keys of an object. */
export interface Memory {
  readonly platform: Platform
  readonly records: Record<string, StoredRecord | undefined>
  readonly recordKeys: string[]
  readonly indexes: Record<string, IndexEntry[] | undefined>
  readonly indexNames: string[]
  readonly blobs: Record<string, string | undefined>
  readonly blobKeys: string[]
  readonly events: Cell[][]
  /** Steps that take the running operation's writes back, newest last. */
  readonly undo: (() => void)[]
}

/** What an operation came to. Bytes are text here. */
export type Said<R> =
  | { readonly kind: 'answered'; readonly result: R; readonly blobs: string[] }
  | { readonly kind: 'fault'; readonly fault: Fault }

export function newMemory(platform: Platform): Memory {
  return {
    platform,
    records: {},
    recordKeys: [],
    indexes: {},
    indexNames: [],
    blobs: {},
    blobKeys: [],
    events: [],
    undo: [],
  }
}

/** Runs one operation as a store would: all of its writes are kept, or none. */
export function runOperation<R>(
  memory: Memory,
  now: Instant,
  callBlobs: readonly string[],
  operation: (tx: Tx) => R,
): Said<R> {
  const replyBlobs: string[] = []
  while (memory.undo.length > 0) memory.undo.pop()
  const attempted = memory.platform.attempt(() => operation(beginTx(memory, now, callBlobs, replyBlobs)))
  if (attempted.kind === 'finished') return { kind: 'answered', result: attempted.value, blobs: replyBlobs }
  for (let step = memory.undo.pop(); step !== undefined; step = memory.undo.pop()) step()
  return { kind: 'fault', fault: attempted.fault }
}

export function storedRecord<T extends RecordType>(memory: Memory, type: T, id: string): RecordTypes[T] | undefined {
  const stored = memory.records[joinName(type, id)]
  return stored === undefined ? undefined : unpackRecord(type, stored.cells)
}

export function storedRecords(memory: Memory): AnyRecord[] {
  const records: AnyRecord[] = []
  for (const key of memory.recordKeys) {
    const stored = memory.records[key]
    if (stored !== undefined) records.push(unpackRecord(stored.type, stored.cells))
  }
  return records
}

export function storedEntries(memory: Memory): IndexEntry[] {
  const entries: IndexEntry[] = []
  for (const name of memory.indexNames) for (const entry of memory.indexes[name] ?? []) entries.push(entry)
  return entries
}

export function storedEvents(memory: Memory, from: number): FabricEvent[] {
  const events: FabricEvent[] = []
  for (let i = from; i < memory.events.length; i++) {
    const cells = memory.events[i]
    if (cells !== undefined) events.push(unpackEvent(cells))
  }
  return events
}

/** Everything in the store except its events: records in their packed form, index entries, blobs. */
export function storedText(memory: Memory): string {
  const lines: string[] = []
  for (const key of memory.recordKeys) {
    const stored = memory.records[key]
    if (stored !== undefined) lines.push(nameText(key) + ' ' + canonicalText(memory.platform, stored.cells))
  }
  for (const entry of storedEntries(memory)) lines.push(entryText(entry))
  for (const key of memory.blobKeys) {
    const bytes = memory.blobs[key]
    if (bytes !== undefined) lines.push(nameText(joinName('blob', key)) + ' ' + bytes)
  }
  return sortedText(lines).join('\n')
}

function entryText(entry: IndexEntry): string {
  return nameText(joinName('index', entry.index)) + ' ' + numberText(entry.score) + ' ' + entry.id
}

function beginTx(memory: Memory, now: Instant, callBlobs: readonly string[], replyBlobs: string[]): Tx {
  let work = 0
  let reads = 0
  const written: Record<string, boolean> = {}
  const fail = (reason: string, recordId: string): never => memory.platform.stop({ reason, recordId })
  const count = (type: RecordType, recordId: string): void => {
    const key = joinName(type, recordId)
    if (written[key] === true) return
    if (work >= OPERATION_WORK_LIMIT) fail('the operation writes more records than it may', recordId)
    written[key] = true
    work = work + 1
  }
  return {
    now,
    get: (type, id) => {
      reads = reads + 1
      return storedRecord(memory, type, id)
    },
    has: (type, id) => memory.records[joinName(type, id)] !== undefined,
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
      const ids = idsOf(readRange(memory, range))
      reads = reads + ids.length
      return getMany(memory, type, ids)
    },
    countUpTo: (range) => readRange(memory, range).length,
    hides: () => false,
    score: (index, id) => scoreOf(memory, index, id),
    repair: (index, id, score) => setEntry(memory, index, id, score),
    emit: (type, subject, detail) => {
      memory.events.push(packEvent(eventOf(type, subject, detail, now)))
      memory.undo.push(() => {
        memory.events.pop()
      })
    },
    keep: (key, blob) => setBlob(memory, key, callBlobs[blob] ?? fail('a blob did not come with the call', key)),
    forget: (key) => setBlob(memory, key, undefined),
    send: (key) => {
      const bytes = memory.blobs[key]
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

function idsOf(entries: readonly IndexEntry[]): string[] {
  const ids: string[] = []
  for (const entry of entries) ids.push(entry.id)
  return ids
}

function writeRecord(memory: Memory, type: RecordType, id: string, record: AnyRecord | undefined): void {
  const key = joinName(type, id)
  const before = memory.records[key]
  const entriesBefore = before === undefined ? [] : entriesOf(unpackRecord(type, before.cells))
  const entriesAfter = record === undefined ? [] : entriesOf(record)
  if (!memory.recordKeys.includes(key)) memory.recordKeys.push(key)
  memory.records[key] = record === undefined ? undefined : { type, id, cells: packRecord(record) }
  memory.undo.push(() => {
    memory.records[key] = before
  })
  for (const entry of entriesBefore) {
    const isLeft = entriesAfter.some((other) => other.index === entry.index && other.id === entry.id)
    if (!isLeft) setEntry(memory, entry.index, entry.id, undefined)
  }
  for (const entry of entriesAfter) setEntry(memory, entry.index, entry.id, entry.score)
}

function setEntry(memory: Memory, index: string, id: string, score: number | undefined): void {
  const before = memory.indexes[index]
  if (before === undefined && !memory.indexNames.includes(index)) memory.indexNames.push(index)
  const after: IndexEntry[] = []
  const added: IndexEntry | undefined = score === undefined ? undefined : { index, score, id }
  let isAdded = added === undefined
  for (const entry of before ?? []) {
    if (entry.id === id) continue
    if (added !== undefined && !isAdded && comesBefore(added, entry)) {
      after.push(added)
      isAdded = true
    }
    after.push(entry)
  }
  if (added !== undefined && !isAdded) after.push(added)
  memory.indexes[index] = after
  memory.undo.push(() => {
    memory.indexes[index] = before
  })
}

function scoreOf(memory: Memory, index: string, id: string): number | undefined {
  for (const entry of memory.indexes[index] ?? []) if (entry.id === id) return entry.score
  return undefined
}

function readRange(memory: Memory, range: Range): IndexEntry[] {
  const entries = memory.indexes[range.index] ?? []
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
  return range.reverse === true ? comesBefore(entry, place) : comesBefore(place, entry)
}

function setBlob(memory: Memory, key: string, bytes: string | undefined): void {
  const before = memory.blobs[key]
  if (!memory.blobKeys.includes(key)) memory.blobKeys.push(key)
  memory.blobs[key] = bytes
  memory.undo.push(() => {
    memory.blobs[key] = before
  })
}
