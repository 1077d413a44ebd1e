/** A memory store that a test can hold up while it reads its log, or have come back as another one. */
import type {
  Answer,
  Call,
  EventPage,
  FactKind,
  Partition,
  PartitionDump,
  Store,
  StoreReport,
  Wake,
} from '../../stores/store.ts'
import { programLevels } from '../../stores/level/store-level.ts'
import { MemoryStore } from '../../stores/memory/memory-store.ts'
import type { Runtime } from '../../runtime/index.ts'

export class UnsteadyStore implements Store {
  readonly settings = { executionPartitions: 1, limitPartitions: 1, indexedTags: [] }
  readonly level = programLevels.max
  readonly #runtime: Runtime
  #inner: MemoryStore
  /** Reads of the log wait for this. */
  hold: Promise<void> | undefined

  constructor(runtime: Runtime) {
    this.#runtime = runtime
    this.#inner = this.#fresh()
  }

  /** As a server does that lost everything. */
  forget(): void {
    this.#inner = this.#fresh()
  }

  run(partition: Partition, calls: readonly Call[]): Promise<Answer[]> {
    return this.#inner.run(partition, calls)
  }

  async readEvents(partition: Partition, after: number, limit: number): Promise<EventPage> {
    const page = await this.#inner.readEvents(partition, after, limit)
    await this.hold
    return page
  }

  trimEvents(partition: Partition, olderThan: number, keepCount: number): Promise<number> {
    return this.#inner.trimEvents(partition, olderThan, keepCount)
  }

  recordFacts(kind: FactKind, names: readonly string[]): Promise<void> {
    return this.#inner.recordFacts(kind, names)
  }

  findFacts(kind: FactKind, names: readonly string[]): Promise<string[]> {
    return this.#inner.findFacts(kind, names)
  }

  onWake(listener: (wake: Wake) => void): () => void {
    return this.#inner.onWake(listener)
  }

  report(): Promise<StoreReport> {
    return this.#inner.report()
  }

  dump(partition: Partition): Promise<PartitionDump> {
    return this.#inner.dump(partition)
  }

  close(): Promise<void> {
    return this.#inner.close()
  }

  #fresh(): MemoryStore {
    return new MemoryStore(this.#runtime, this.settings)
  }
}
