/**
 * Which operations of a batch depend on each other: those that touched a common record, or read an index that another one
 * changed. They are committed together or not at all; operations of different groups are independent.
 */
import { guardOf } from '../../kernel/index.ts'
import type { IndexGuard } from '../../kernel/index.ts'
import { recordWrite } from './held-record.ts'
import type { HeldRecord, LateBlob } from './held-record.ts'
import type { IndexOverlay } from './index-overlay.ts'
import { UNREADABLE, isNothing } from './stored-data.ts'
import type { BlobWrite, EntryWrite, EventWrite, RecordWrite, StoredData } from './stored-data.ts'

export interface BatchGroup {
  /** The numbers of its operations in the batch, ascending. */
  readonly operations: number[]
  /** Every record that was read or written. */
  readonly touched: HeldRecord[]
  readonly records: RecordWrite[]
  readonly entries: EntryWrite[]
  readonly blobs: BlobWrite[]
  readonly events: EventWrite[]
  /** Where each event stands among those of the batch. */
  readonly eventPlaces: number[]
  readonly late: LateBlob[]
  /** Whether an operation met an impossible state. */
  hasFault: boolean
  hasWrites: boolean
  /** Whether an operation read a range that no record guards. */
  readsUnguarded: boolean
  /** Indexes in which nothing was taken to be ready or due. */
  readonly assumedClear: string[]
  /** Whether a guarded range came from an earlier load than its guard, so that a change between the two went unseen. */
  isTorn: boolean
}

interface IndexRead {
  readonly operation: number
  readonly index: string
  readonly guard: IndexGuard
}

type Owned<T> = T & { readonly operation: number }

export class BatchGroups {
  readonly #parents: number[] = []
  readonly #faulted = new Set<number>()
  readonly #reads: IndexRead[] = []
  readonly #clearReads: { readonly operation: number; readonly index: string }[] = []

  /** Numbers operations from 0. */
  add(): number {
    return this.#parents.push(this.#parents.length) - 1
  }

  fault(operation: number): void {
    this.#faulted.add(operation)
  }

  join(a: number, b: number): void {
    const [first, second] = [this.#rootOf(a), this.#rootOf(b)]
    if (first !== second) this.#parents[Math.max(first, second)] = Math.min(first, second)
  }

  /** Notes that an operation reads an index. What stands in an advisory one is a hint, so its writers are independent. */
  read(operation: number, index: IndexOverlay): void {
    const guard = index.guard ?? guardOf(index.name)
    index.guard = guard
    if (guard.kind === 'advisory') {
      if (index.isAssumedClear) this.#clearReads.push({ operation, index: index.name })
      return
    }
    if (index.readers.at(-1) !== operation) {
      index.readers.push(operation)
      this.#reads.push({ operation, index: index.name, guard })
    }
    for (const writer of index.writers) if (writer !== operation) this.join(writer, operation)
  }

  /** Notes that an operation changes an index: those that read it before must not run again after it. */
  change(operation: number, index: IndexOverlay): void {
    for (const reader of index.readers) if (reader !== operation) this.join(reader, operation)
  }

  collect(
    held: Iterable<HeldRecord>,
    indexes: ReadonlyMap<string, IndexOverlay>,
    blobs: ReadonlyMap<string, Owned<Omit<BlobWrite, 'key'>>>,
    events: readonly Owned<EventWrite>[],
    late: readonly LateBlob[],
    data: StoredData,
  ): BatchGroup[] {
    const byRoot = new Map<number, BatchGroup>()
    for (let operation = 0; operation < this.#parents.length; operation++) {
      const root = this.#rootOf(operation)
      const group = byRoot.get(root)
      if (group === undefined) byRoot.set(root, newGroup(operation))
      else group.operations.push(operation)
    }
    const groupOf = (operation: number): BatchGroup => byRoot.get(this.#rootOf(operation)) as BatchGroup
    for (const record of held) {
      const group = groupOf(record.operation)
      group.touched.push(record)
      const write = recordWrite(record)
      if (write !== undefined) group.records.push(write)
    }
    for (const [index, { changed }] of indexes) {
      for (const [id, { before, after, operation }] of changed) {
        if (before !== after) groupOf(operation).entries.push({ index, id, before, after })
      }
    }
    for (const [key, blob] of blobs) groupOf(blob.operation).blobs.push({ key, ...blob })
    for (const [place, event] of events.entries()) {
      const group = groupOf(event.operation)
      group.events.push(event)
      group.eventPlaces.push(place)
    }
    for (const blob of late) groupOf(blob.operation).late.push(blob)
    for (const operation of this.#faulted) groupOf(operation).hasFault = true
    for (const { operation, index, guard } of this.#reads) {
      const group = groupOf(operation)
      if (guard.kind === 'none') group.readsUnguarded = true
      else if (isTorn(index, guard, group.touched, data)) group.isTorn = true
    }
    for (const { operation, index } of this.#clearReads) {
      const { assumedClear } = groupOf(operation)
      if (!assumedClear.includes(index)) assumedClear.push(index)
    }
    const groups = [...byRoot.values()]
    for (const group of groups) group.hasWrites = !isNothing(group)
    return groups
  }

  #rootOf(operation: number): number {
    let root = operation
    for (let parent = this.#parents[root]; parent !== undefined && parent !== root; parent = this.#parents[root]) {
      root = parent
    }
    if (root !== operation) this.#parents[operation] = root
    return root
  }
}

function newGroup(operation: number): BatchGroup {
  return {
    operations: [operation],
    touched: [],
    records: [],
    entries: [],
    blobs: [],
    events: [],
    eventPlaces: [],
    late: [],
    hasFault: false,
    hasWrites: false,
    readsUnguarded: false,
    assumedClear: [],
    isTorn: false,
  }
}

/** A guard that the group itself has not read protects nothing: the commit of the group has no condition on it. */
function isTorn(index: string, guard: IndexGuard, touched: readonly HeldRecord[], data: StoredData): boolean {
  if (data.momentOf === undefined || data.indexMomentOf === undefined) return false
  const found = guardRecord(guard, touched)
  return found === undefined || data.momentOf(found.type, found.id) > data.indexMomentOf(index)
}

function guardRecord(guard: IndexGuard, records: readonly HeldRecord[]): HeldRecord | undefined {
  if (guard.kind === 'record') return find(records, guard.type, guard.id)
  if (guard.kind !== 'flow_of') return undefined
  const member = find(records, 'execution', guard.executionId)
  const flowId = flowIdIn(member?.stored) ?? flowIdIn(member?.current)
  return flowId === undefined ? member : find(records, 'flow', flowId)
}

function flowIdIn(record: HeldRecord['stored']): string | undefined {
  if (record === undefined || record === UNREADABLE || record.type !== 'execution') return undefined
  return record.member?.flowId
}

function find(records: readonly HeldRecord[], type: HeldRecord['type'], id: string): HeldRecord | undefined {
  return records.find((record) => record.type === type && record.id === id)
}
