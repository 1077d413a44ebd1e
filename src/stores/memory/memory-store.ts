/** A store in the memory of the process, for tests and experiments. Its clock can be moved. */
import { copyRecord } from '../../kernel/index.ts'
import type { Runtime } from '../../runtime/index.ts'
import { programLevels } from '../level/store-level.ts'
import { Overlay } from '../working-set/overlay/overlay.ts'
import { EVENT_SCAN_MAX } from '../store.ts'
import type {
  Answer,
  Call,
  EventHint,
  EventPage,
  FactKind,
  Partition,
  PartitionDump,
  Store,
  StoreReport,
  StoreSettings,
  StoredEvent,
  Wake,
} from '../store.ts'
import { wakeOf } from '../working-set/overlay/wake-of.ts'
import { WakeListeners } from '../wake-listeners.ts'
import { MemoryPartition } from './memory-partition.ts'
import type { KeptEvent } from './memory-partition.ts'

/** Without a number of limit partitions, one. */
export type MemorySettings = Omit<StoreSettings, 'limitPartitions'> & Partial<Pick<StoreSettings, 'limitPartitions'>>

export class MemoryStore implements Store {
  readonly settings: StoreSettings
  readonly level = programLevels.max
  readonly #runtime: Runtime
  readonly #partitions = new Map<Partition, MemoryPartition>()
  readonly #facts = new Map<FactKind, Set<string>>()
  readonly #listeners = new WakeListeners()

  constructor(runtime: Runtime, settings: MemorySettings) {
    this.#runtime = runtime
    this.settings = { limitPartitions: 1, ...settings }
  }

  run(partition: Partition, calls: readonly Call[]): Promise<Answer[]> {
    const data = this.partition(partition)
    const overlay = new Overlay(data, this.#runtime.now())
    const answers = overlay.runAll(calls)
    const writes = overlay.writes()
    const wake = wakeOf(partition, writes, data.lastSequence)
    data.apply(writes)
    this.wake(wake)
    return Promise.resolve(answers)
  }

  readEvents(partition: Partition, after: number, limit: number, hint?: EventHint): Promise<EventPage> {
    const { events, lastSequence } = this.partition(partition)
    const firstSequence = events[0]?.sequence ?? lastSequence + 1
    const start = Math.max(0, after + 1 - firstSequence)
    if (hint === undefined) {
      return Promise.resolve({ events: events.slice(start, start + limit).map(readEvent), firstSequence, lastSequence })
    }
    const examined = events.slice(start, start + EVENT_SCAN_MAX).map(readEvent)
    const found = examined.filter((event, i) => i === 0 || i === examined.length - 1 || isHinted(event, hint))
    return Promise.resolve({ events: found.slice(0, limit), firstSequence, lastSequence })
  }

  trimEvents(partition: Partition, olderThan: number, keepCount: number): Promise<number> {
    const data = this.partition(partition)
    const excess = data.events.length - keepCount
    const firstKept = data.events.findIndex((event, i) => i >= excess && readEvent(event).at >= olderThan)
    const trimmed = firstKept === -1 ? data.events.length : firstKept
    data.events = data.events.slice(trimmed)
    return Promise.resolve(trimmed)
  }

  recordFacts(kind: FactKind, names: readonly string[]): Promise<void> {
    this.#facts.set(kind, new Set([...(this.#facts.get(kind) ?? []), ...names]))
    return Promise.resolve()
  }

  findFacts(kind: FactKind, names: readonly string[]): Promise<string[]> {
    return Promise.resolve(names.filter((name) => this.#facts.get(kind)?.has(name)))
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
    const data = this.partition(partition)
    return Promise.resolve({
      records: [...data.records.values()].flatMap((records) => [...records.values()].map(copyRecord)),
      entries: [...data.indexes.values()].flatMap((index) => index.entries()),
      blobKeys: [...data.blobs.keys()],
      events: data.events.map(readEvent),
    })
  }

  close(): Promise<void> {
    this.#listeners.clear()
    return Promise.resolve()
  }

  protected wake(wake: Wake | undefined): void {
    if (wake !== undefined) this.#listeners.notify(wake)
  }

  protected partition(name: Partition): MemoryPartition {
    let partition = this.#partitions.get(name)
    if (partition === undefined) {
      partition = new MemoryPartition()
      this.#partitions.set(name, partition)
    }
    return partition
  }
}

function readEvent({ sequence, event }: KeptEvent): StoredEvent {
  return { sequence, ...event }
}

function isHinted(event: StoredEvent, { types, texts }: EventHint): boolean {
  if (types !== undefined && !types.includes(event.type)) return false
  const values: unknown[] = Object.values(event)
  return texts.every((text) => values.includes(text) || event.tags.includes(text))
}
