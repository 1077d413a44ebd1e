/**
 * The memory store behind a simulated network: batches load what they need, run over a working set and commit under
 * conditions. It can fail conditions that hold, so that tests show that every operation may run again.
 */
import { recordsReadAfter, recordsNamedBy } from '../../kernel/index.ts'
import type { IndexEntry, RecordType } from '../../kernel/index.ts'
import type { Runtime } from '../../runtime/index.ts'
import type { Answer, Call, Partition } from '../store.ts'
import type {
  Backend,
  Commit,
  CommitReply,
  Condition,
  LoadReply,
  LoadRequest,
  OfOperation,
} from '../working-set/commit/backend.ts'
import { BatchRunner } from '../working-set/batch/batch-runner.ts'
import { UnsteadyBackend } from '../working-set/commit/unsteady-backend.fixture.ts'
import type { MemoryPartition } from './memory-partition.ts'
import { MemoryStore } from './memory-store.ts'
import type { MemorySettings } from './memory-store.ts'

export interface Unsteadiness {
  /** One of so many groups of writes fails although its conditions hold. Left out: none. */
  readonly failEvery?: number | undefined
}

export class ConditionalMemoryStore extends MemoryStore implements Backend {
  readonly checksClear = true
  readonly #runtime: Runtime
  readonly #runner: BatchRunner
  readonly #versions = new Map<string, string>()
  readonly #locks = new Map<Partition, string>()

  constructor(runtime: Runtime, settings: MemorySettings, { failEvery }: Unsteadiness = {}) {
    super(runtime, settings)
    this.#runtime = runtime
    this.#runner = new BatchRunner({
      backend: failEvery === undefined ? this : new UnsteadyBackend(this, failEvery),
      runtime,
      now: () => runtime.now(),
      pause: () => new Promise((resolve) => runtime.soon(resolve)),
      onWake: (wake) => this.wake(wake),
    })
  }

  override run(partition: Partition, calls: readonly Call[]): Promise<Answer[]> {
    return this.#runner.run(partition, calls)
  }

  /** The blobs of a partition, to be damaged by a test. */
  blobsOf(partition: Partition): Map<string, Uint8Array> {
    return this.partition(partition).blobs
  }

  /** Expires the lock of a partition. Returns whether there was one. */
  expireLock(partition: Partition): boolean {
    return this.#locks.delete(partition)
  }

  async load({ partition, needs, into, lock, holdsLock }: LoadRequest): Promise<LoadReply> {
    await Promise.resolve()
    const now = this.#runtime.now()
    const data = this.partition(partition)
    if (lock !== undefined) {
      const holder = this.#locks.get(partition)
      if (holdsLock === true && holder !== lock) return { now, isLockLost: true }
      if (holder !== undefined && holder !== lock) return { now, busyMs: 1 }
      this.#locks.set(partition, lock)
    }
    const keep = (type: RecordType, id: string) => {
      const record = data.records.get(type)?.get(id)
      const version = this.#versions.get(keyOf(partition, type, id)) ?? ''
      into.keepRecord(type, id, record === undefined ? undefined : { record, version, length: 0 })
    }
    const keepNamed = (entries: readonly IndexEntry[]) => {
      for (const entry of entries) {
        for (const { type, before, after } of recordsNamedBy(entry.index)) {
          const id = before + entry.id + after
          keep(type, id)
          const record = data.records.get(type)?.get(id)
          for (const brought of record === undefined ? [] : recordsReadAfter(record)) keep(brought.type, brought.id)
        }
      }
    }
    for (const [type, ids] of needs.records) for (const id of ids) keep(type, id)
    for (const { index, limit, to: upTo = Infinity } of needs.heads.values()) {
      const to = upTo === 'now' ? now : upTo
      const found = data.range({ index, limit })
      const entries = found.slice(0, found.filter(({ score }) => score <= to).length + 1)
      keepNamed(entries)
      into.keepHead(index, limit, entries, { to })
    }
    for (const [key, { range }] of needs.pages) {
      const entries = data.range(range)
      keepNamed(entries)
      into.keepPage(key, range, entries)
    }
    for (const [key, range] of needs.counts) into.keepCount(key, range, data.count(range))
    for (const [key, { index, id }] of needs.scores) into.keepScore(key, data.score(index, id))
    for (const key of needs.blobs) into.keepBlob(key, data.blob(key))
    return { now }
  }

  async commit(commit: Commit): Promise<CommitReply> {
    const { partition, lock, passesLock, lagMs } = commit
    const data = this.partition(partition)
    const sent = commit.sends.map(({ key }) => data.blob(key))
    // Other commits may come between.
    await Promise.resolve()
    const now = this.#runtime.now()
    const holder = this.#locks.get(partition)
    if (lock !== undefined && holder !== lock) return { kind: 'refused', reason: 'lock_lost', now }
    if (lock === undefined && holder !== undefined && !passesLock) return { kind: 'refused', reason: 'locked', now }
    const isClockWrong = lagMs !== undefined && (commit.now > now || commit.now < now - lagMs)
    if (isClockWrong) return { kind: 'refused', reason: 'clock', now }
    if (lock !== undefined) this.#locks.delete(partition)
    const newestAt = commit.isClockBack === true ? 0 : (data.events.at(-1)?.event.at ?? 0)
    const eventsAt = Math.max(commit.now, newestAt)
    const failed: number[] = []
    const groupOf = ({ operation }: OfOperation) => commit.groupOf[operation] as number
    for (let group = 0; group < commit.groupCount; group++) {
      const isOf = (item: OfOperation) => groupOf(item) === group
      const holds = commit.conditions.every((one) => !isOf(one) || this.#holds(partition, data, one))
      const isClear = commit.clear.every((one) => {
        const [first] = data.range({ index: one.index, limit: 1 })
        return !isOf(one) || first === undefined || (one.upTo !== undefined && first.score > one.upTo)
      })
      if (!holds || !isClear) failed.push(group)
    }
    const isApplied = (item: OfOperation) => !failed.includes(groupOf(item))
    const records = commit.records.filter(isApplied)
    data.apply({
      records: records.map((record) => ({ ...record, existed: false })),
      entries: commit.entries.filter(isApplied),
      blobs: commit.blobs.filter(isApplied),
      events: commit.events
        .filter(isApplied)
        .map(({ event }) => ({ event: { ...event, at: eventsAt }, isForHolder: false })),
    })
    for (const { type, id } of records) this.#versions.set(keyOf(partition, type, id), commit.version)
    return { kind: 'applied', now, failed, sent, lastSequence: data.lastSequence, eventsAt }
  }

  #holds(partition: Partition, data: MemoryPartition, { type, id, version }: Condition): boolean {
    if (data.find(type, id) === undefined) return version === undefined
    return version === this.#versions.get(keyOf(partition, type, id))
  }
}

function keyOf(partition: Partition, type: RecordType, id: string): string {
  return `${partition} ${type} ${id}`
}
