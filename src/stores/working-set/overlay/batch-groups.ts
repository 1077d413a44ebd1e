/**
 * Groups the operations of a batch that depend on each other: those that touched a common record, or read an index that
 * another one changed. A group is committed as a whole or not at all; groups are independent. An independent part of an
 * operation counts as an operation: both are numbered in one sequence, in the order of their start.
 */
import { guardOf } from '../../../kernel/index.ts'
import type { IndexGuard, RecordType } from '../../../kernel/index.ts'
import { flowIdIn, writesRecord } from './held-record.ts'
import type { HeldBlob, HeldEvent, HeldRecord, LateBlob } from './held-record.ts'
import type { ChangedEntry, IndexOverlay } from './index-overlay.ts'
import type { StoredData } from './stored-data.ts'

/** Operations that depend on each other, and what is to be known of them before they are committed. */
export interface BatchGroup {
  /** Their numbers, ascending. */
  readonly operations: number[]
  /** Whether an answer depends on it. No answer depends on a part without a report. */
  hasAnswer: boolean
  /** Whether one of them met an impossible state. */
  hasFault: boolean
  hasWrites: boolean
  /** Whether an answer carries a blob that comes with the commit. */
  hasLate: boolean
  /** Whether a range was read that no record guards. */
  readsUnguarded: boolean
  /** Whether a guarded range came from an earlier load than its guard, so that a change between the two went unseen. */
  isTorn: boolean
  touchesAny: boolean
  /** Whether a record was known or assumed before anything was loaded for the batch. */
  touchesRecalled: boolean
  /** Indexes in which nothing was taken to be ready or due. */
  assumedClear: readonly string[]
}

/** What a batch has read and written. Each item has the number of its operation. */
export interface BatchOutcome {
  readonly groups: readonly BatchGroup[]
  /** For each operation, the number of its group. */
  readonly groupOf: readonly number[]
  /** For each operation, the number of the call that it belongs to. Parts follow the operation that they are parts of. */
  readonly callOf: readonly number[]
  /** The reports of parts, on which the answers of their calls depend. */
  readonly reports: readonly PartReport[]
  /** Every record that was read or written. */
  readonly touched: readonly HeldRecord[]
  /** Those of one index stand together. */
  readonly entries: readonly ChangedEntry[]
  readonly blobs: readonly HeldBlob[]
  /** In their order. */
  readonly events: readonly HeldEvent[]
  readonly late: readonly LateBlob[]
}

/** What a part of an operation contributes to the answer. */
export interface PartReport {
  /** The number of the part. */
  readonly operation: number
  readonly report: object
}

interface IndexRead {
  readonly operation: number
  readonly index: string
  readonly guard: IndexGuard
}

const NO_INDEXES: readonly string[] = []

export class BatchGroups {
  readonly #parents: number[] = []
  readonly #callOf: number[] = []
  readonly #reports: PartReport[] = []
  #callCount = 0
  readonly #faulted = new Set<number>()
  readonly #reads: IndexRead[] = []
  readonly #clearReads: { readonly operation: number; readonly index: string }[] = []

  /** Adds the operation of the next call. Returns its number; numbers begin with 0. */
  add(): number {
    this.#callCount += 1
    return this.addPart()
  }

  /** Adds a part of the newest operation. */
  addPart(): number {
    this.#callOf.push(this.#callCount - 1)
    return this.#parents.push(this.#parents.length) - 1
  }

  report(operation: number, report: object): void {
    this.#reports.push({ operation, report })
  }

  /** Notes that the newest operation met an impossible state. It writes nothing, and the fault depends on all that its parts read. */
  fault(operation: number): void {
    this.#faulted.add(operation)
    for (let part = operation + 1; part < this.#parents.length; part++) this.join(operation, part)
  }

  join(a: number, b: number): void {
    const [first, second] = [this.rootOf(a), this.rootOf(b)]
    if (first !== second) this.#parents[Math.max(first, second)] = Math.min(first, second)
  }

  /** Returns the first operation of the group that an operation belongs to. */
  rootOf(operation: number): number {
    let root = operation
    for (let parent = this.#parents[root]; parent !== undefined && parent !== root; parent = this.#parents[root]) {
      root = parent
    }
    if (root !== operation) this.#parents[operation] = root
    return root
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
    touched: readonly HeldRecord[],
    entries: readonly ChangedEntry[],
    blobs: readonly HeldBlob[],
    events: readonly HeldEvent[],
    late: readonly LateBlob[],
    data: StoredData,
  ): BatchOutcome {
    const groups: BatchGroup[] = []
    const groupOf: number[] = []
    const of = ({ operation }: { readonly operation: number }) => groups[groupOf[operation] as number] as BatchGroup
    for (let operation = 0; operation < this.#parents.length; operation++) {
      const root = this.rootOf(operation)
      if (root === operation) {
        groupOf.push(groups.push(newGroup(operation)) - 1)
      } else {
        const group = groupOf[root] as number
        groupOf.push(group)
        groups[group]?.operations.push(operation)
      }
      if (!isPart(this.#callOf, operation)) of({ operation }).hasAnswer = true
    }
    for (const report of this.#reports) of(report).hasAnswer = true
    for (const record of touched) {
      const group = of(record)
      group.touchesAny = true
      if (record.found?.moment === 0) group.touchesRecalled = true
      if (writesRecord(record)) group.hasWrites = true
    }
    for (const entry of entries) of(entry).hasWrites = true
    for (const blob of blobs) of(blob).hasWrites = true
    for (const event of events) of(event).hasWrites = true
    for (const blob of late) of(blob).hasLate = true
    for (const operation of this.#faulted) of({ operation }).hasFault = true
    for (const read of this.#reads) {
      const group = of(read)
      if (read.guard.kind === 'none') {
        group.readsUnguarded = true
      } else {
        const find = (type: RecordType, id: string) =>
          touched.find((record) => record.type === type && record.id === id && of(record) === group)
        if (isGuardLater(read.index, read.guard, find, data)) group.isTorn = true
      }
    }
    for (const read of this.#clearReads) {
      const group = of(read)
      if (!group.assumedClear.includes(read.index)) group.assumedClear = [...group.assumedClear, read.index]
    }
    return { groups, groupOf, callOf: this.#callOf, reports: this.#reports, touched, entries, blobs, events, late }
  }
}

/** Whether a number is that of a part: it has the same call as the number before. */
export function isPart(callOf: BatchOutcome['callOf'], operation: number): boolean {
  return callOf[operation] === callOf[operation - 1]
}

function newGroup(operation: number): BatchGroup {
  return {
    operations: [operation],
    hasAnswer: false,
    hasFault: false,
    hasWrites: false,
    hasLate: false,
    readsUnguarded: false,
    isTorn: false,
    touchesAny: false,
    touchesRecalled: false,
    assumedClear: NO_INDEXES,
  }
}

type Find = (type: RecordType, id: string) => HeldRecord | undefined

/** Whether a guard was loaded after its index. A guard that the group has not read has no condition, so it protects nothing. */
function isGuardLater(index: string, guard: IndexGuard, find: Find, data: StoredData): boolean {
  if (data.indexMomentOf === undefined) return false
  const found = guardRecord(guard, find)
  return found === undefined || (found.found?.moment ?? 0) > data.indexMomentOf(index)
}

function guardRecord(guard: IndexGuard, find: Find): HeldRecord | undefined {
  if (guard.kind === 'record') return find(guard.type, guard.id)
  if (guard.kind !== 'flow_of') return undefined
  const member = find('execution', guard.executionId)
  const flowId = flowIdIn(member?.stored) ?? flowIdIn(member?.current)
  return flowId === undefined ? member : find('flow', flowId)
}
