/** A fabric for the tests of the worker: on a memory store that fails on demand, with a virtual clock. */
import { Client } from '../client/client.ts'
import type { KeySource } from '../client/tokens/key-ring.ts'
import type { Handler } from '../client/define/task.ts'
import type { ExecutionId, OperationName } from '../kernel/index.ts'
import { virtualRuntime } from '../runtime/index.ts'
import type { Log, LogFields, VirtualRuntime } from '../runtime/index.ts'
import { EngineError } from '../kernel/engine-error.ts'
import { MemoryStore } from '../stores/memory/memory-store.ts'
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
} from '../stores/store.ts'
import { STORE_PARTITION } from '../stores/partitions.ts'
import { WakeListeners } from '../stores/wake-listeners.ts'
import { Fabric } from '../fabric/fabric.ts'
import type { WorkerOptions } from './worker-options.ts'
import { startWorker } from './worker.ts'
import type { Worker } from './worker.ts'

/** `before`: the call has no effect and fails. `after`: it takes effect, and its reply is lost. */
export type FaultPlan = (call: Call) => 'before' | 'after' | undefined

export class FaultyStore implements Store {
  readonly #inner: MemoryStore
  readonly #strays = new WakeListeners()
  /** All operations on executions sent, in order. */
  readonly calls: Call[] = []
  /** The number of batches sent. */
  tripCount = 0
  plan: FaultPlan = () => undefined
  /** A partition whose calls fail. */
  down: Partition | undefined
  /** Calls of the registry are sent once this resolves. */
  registryReady: Promise<unknown> = Promise.resolve()
  /** Strips the details from wake-ups, as for wake-ups from another process. */
  isVague = false
  /** Drops all wake-ups. */
  isMute = false

  constructor(inner: MemoryStore) {
    this.#inner = inner
  }

  /** Calls of the registry of workers, which faults of executions do not concern. */
  async #runRegistry(calls: readonly Call[]): Promise<Answer[]> {
    if (this.down === STORE_PARTITION) throw new EngineError('store_unavailable')
    await this.registryReady
    return await this.#inner.run(STORE_PARTITION, calls)
  }

  get level() {
    return this.#inner.level
  }

  get settings() {
    return this.#inner.settings
  }

  async run(partition: Partition, calls: readonly Call[]): Promise<Answer[]> {
    if (partition === STORE_PARTITION) return await this.#runRegistry(calls)
    this.calls.push(...calls)
    this.tripCount += 1
    const faults = calls.map((call) => this.plan(call))
    if (partition === this.down || faults.includes('before')) throw new EngineError('store_unavailable')
    const answers = await this.#inner.run(partition, calls)
    if (faults.includes('after')) throw new EngineError('store_unavailable')
    return answers
  }

  callsOf(operation: OperationName): Call[] {
    return this.calls.filter((call) => call.operation === operation)
  }

  readEvents(partition: Partition, after: number, limit: number): Promise<EventPage> {
    return this.#inner.readEvents(partition, after, limit)
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
    const forward = (wake: Wake) => {
      if (!this.isMute) listener(this.isVague ? { partition: wake.partition, hasEvents: true } : wake)
    }
    const removeInner = this.#inner.onWake(forward)
    const remove = this.#strays.add(forward)
    return () => {
      removeInner()
      remove()
    }
  }

  /** Sends a wake-up without a cause. */
  wake(wake: Wake): void {
    this.#strays.notify(wake)
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
}

export interface LogLine {
  readonly level: keyof Log
  readonly fields: LogFields
  readonly message: string
}

/** A log that collects its lines. */
function collectingLog(): { readonly log: Log; readonly lines: LogLine[] } {
  const lines: LogLine[] = []
  const write = (level: keyof Log) => (fields: LogFields, message: string) =>
    void lines.push({ level, fields, message })
  return { lines, log: { debug: write('debug'), info: write('info'), warn: write('warn'), error: write('error') } }
}

export class World implements AsyncDisposable {
  readonly runtime: VirtualRuntime
  readonly store: FaultyStore
  readonly fabric: Fabric
  /** A client as in another process: its calls never share a batch with those of a worker. */
  readonly elsewhere: Client
  readonly lines: LogLine[]
  readonly #workers: Worker[] = []

  constructor(partitionCount: number, keys: KeySource | undefined) {
    const { log, lines } = collectingLog()
    this.runtime = virtualRuntime()
    this.store = new FaultyStore(
      new MemoryStore(this.runtime, { executionPartitions: partitionCount, indexedTags: [] }),
    )
    this.fabric = new Fabric(this.store, this.runtime, { log, keys })
    this.elsewhere = new Client(this.store, this.runtime)
    this.lines = lines
  }

  /** Starts a worker without an engine. */
  work(handlers: readonly Handler[], options: WorkerOptions = {}): Worker {
    const worker = startWorker(this.fabric, handlers, { log: this.fabric.log, ...options })
    this.#workers.push(worker)
    return worker
  }

  /** Runs everything that needs no time to pass. */
  settle(): Promise<void> {
    return this.runtime.advance(0)
  }

  advance(ms: number): Promise<void> {
    return this.runtime.advance(ms)
  }

  async stateOf(id: ExecutionId): Promise<string> {
    return (await this.fabric.describe(id)).state
  }

  async endsOf(id: ExecutionId): Promise<number> {
    const { events } = await this.store.readEvents('fp:0', 0, 10_000)
    return events.filter((event) => event.executionId === id && event.type === 'execution_ended').length
  }

  linesOf(level: keyof Log): LogLine[] {
    return this.lines.filter((line) => line.level === level)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const worker of this.#workers) worker.crash()
    await this.fabric.close()
  }
}

export function createWorld(partitionCount = 1, keys?: KeySource): World {
  return new World(partitionCount, keys)
}
