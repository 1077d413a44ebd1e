/** The caches of one partition in this process. Other processes change the partition, so a commit checks all of it. */
import { isAtRest } from '../../../kernel/index.ts'
import type { Instant } from '../../../kernel/index.ts'
import type { Runtime } from '../../../runtime/index.ts'
import type { Partition } from '../../store.ts'
import type { BatchGroup } from '../overlay/batch-groups.ts'
import { ClearIndexes } from './clear-indexes.ts'
import type { AppliedContent } from '../commit/commit-groups.ts'
import type { HeldRecord } from '../overlay/held-record.ts'
import { KnownEdges } from './known-edges.ts'
import { HotRecords } from './hot-records.ts'
import type { Needs } from '../load/needs.ts'
import { RecordCache } from './record-cache.ts'
import { ServerClock } from './server-clock.ts'
import { UNREADABLE } from '../overlay/stored-data.ts'
import type { Version } from '../overlay/stored-data.ts'
import type { Beforehand, WorkingSet } from '../load/working-set.ts'

/** Cached records at most. */
const CACHE_MAX = 5_000

/** Which caches a batch may use. */
interface Beliefs {
  /** Whether a commit can check that an index is clear. */
  readonly checksClear: boolean
  /** Whether cached edges of flows are used. */
  readonly knowsEdges: boolean
}

export class PartitionState {
  readonly partition: Partition
  readonly clock: ServerClock
  readonly #cache = new RecordCache(CACHE_MAX)
  readonly #hot = new HotRecords()
  readonly #clear = new ClearIndexes()
  readonly #edges = new KnownEdges()
  readonly #runtime: Runtime
  #lastSequence = 0

  constructor(partition: Partition, runtime: Runtime) {
    this.partition = partition
    this.clock = new ServerClock(runtime)
    this.#runtime = runtime
  }

  /** Returns what a batch may use without a load. */
  beforehand(now: Instant | undefined, { checksClear, knowsEdges }: Beliefs): Beforehand {
    return {
      recall: (type, id) => this.#cache.get(type, id),
      edges: knowsEdges ? this.#edges : undefined,
      isBelievedClear: checksClear ? (index) => this.#clear.isClear(index, now) : undefined,
    }
  }

  get hasHotRecords(): boolean {
    return this.#hot.hasAny(this.#runtime.monotonic())
  }

  /** Whether a batch plans to read a hot record. */
  isContended(set: WorkingSet): boolean {
    return this.#hot.concerns(set, this.#runtime.monotonic())
  }

  noteLoad({ heads }: Needs, set: WorkingSet): void {
    for (const index of heads.keys()) {
      const head = set.headOf(index)
      if (head !== undefined && !set.hides(index)) this.#clear.saw(index, head)
    }
  }

  /** A sequence that went back means a restored store, whose records may differ from the cached ones. */
  noteSequence(lastSequence: number): void {
    if (lastSequence < this.#lastSequence) this.forget()
    this.#lastSequence = lastSequence
  }

  noteApplied(applied: AppliedContent, version: Version): void {
    const { touched, records, entries } = applied
    for (const { type, id, record, entries: ofRecord, length } of records) {
      if (record === undefined) this.#cache.delete(type, id)
      else if (isAtRest(record)) this.#cache.setPresent(type, id)
      else this.#cache.set(type, id, { record, version, length, entries: ofRecord })
    }
    // Unchanged reads: the commit has compared their versions.
    for (const { type, id, found, stored, isChanged } of touched) {
      if (isChanged || stored === undefined || stored === UNREADABLE || isAtRest(stored)) continue
      if (found?.version === undefined) continue
      const { version: unchanged, length = 0, entries: ofRecord } = found
      this.#cache.set(type, id, { record: stored, version: unchanged, length, entries: ofRecord })
    }
    this.#clear.wrote(entries)
    this.#edges.wrote(applied, version)
  }

  /** A group that assumed a clear index most likely failed for that, so only its flows count as contended. */
  noteConflict({ operations, assumedClear }: BatchGroup, touched: readonly HeldRecord[]): void {
    const monotonic = this.#runtime.monotonic()
    for (const index of assumedClear) this.#clear.doubt(index)
    for (const { type, id, operation } of touched) {
      if (!operations.includes(operation)) continue
      this.#cache.delete(type, id)
      if (type === 'flow') this.#edges.forget(id)
      if (assumedClear.length === 0 || type === 'flow') this.#hot.note(type, id, monotonic)
    }
  }

  forget(): void {
    this.#cache.clear()
    this.#clear.clear()
    this.#edges.clear()
  }
}
