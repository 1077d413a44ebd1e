/** A small world for the tests of this folder: a memory store, a clock that is moved by hand, and a few short ways in. */
import { LEASE_TTL_DEFAULT_MS, RETENTION_DEFAULT_MS, operations } from '../kernel/index.ts'
import type { Claimed, CreateInput, EventType, Execution, ExecutionId, Tx } from '../kernel/index.ts'
import { virtualRuntime } from '../runtime/index.ts'
import type { Log, LogFields, Runtime, VirtualRuntime } from '../runtime/index.ts'
import { Batcher } from '../stores/batcher.ts'
import { MemoryStore } from '../stores/memory/memory-store.ts'
import { executionPartition } from '../stores/store.ts'
import type { Call, Partition, Store, StoredEvent } from '../stores/store.ts'
import type { MetricsRegistry } from '../runtime/metrics.ts'

export interface LogLine {
  readonly level: keyof Log
  readonly fields: LogFields
  readonly message: string
}

export interface RecordingLog extends Log {
  readonly lines: LogLine[]
}

export function recordingLog(): RecordingLog {
  const lines: LogLine[] = []
  const write = (level: keyof Log) => (fields: LogFields, message: string) =>
    void lines.push({ level, fields, message })
  return { lines, debug: write('debug'), info: write('info'), warn: write('warn'), error: write('error') }
}

export interface World {
  readonly runtime: VirtualRuntime
  readonly store: MemoryStore
  readonly batcher: Batcher
  readonly log: RecordingLog
  submit(wish?: Partial<CreateInput> & { readonly partition?: number }): Promise<ExecutionId>
  /** Leases whatever is ready in a lane. */
  claim(lane?: string, partition?: number): Promise<Claimed[]>
  complete(claimed: Claimed): Promise<void>
  events(type?: EventType): Promise<StoredEvent[]>
  executions(): Promise<Execution[]>
  /** Writes with no operation around it, as a fault elsewhere might. */
  write(partition: Partition, change: (tx: Tx) => void): Promise<void>
  /** Sets or removes an index entry against what its record derives, as a fault of a store might. */
  damageIndex(partition: Partition, index: string, id: string, score: number | undefined): Promise<void>
}

const MOST_EVENTS = 1_000_000

export function createWorld(partitionCount = 1, storeRuntime?: (runtime: VirtualRuntime) => Runtime): World {
  const runtime = virtualRuntime()
  const settings = { executionPartitions: partitionCount, indexedTags: [] }
  const store = new MemoryStore(storeRuntime?.(runtime) ?? runtime, settings)
  const batcher = new Batcher(store, runtime)
  const partitions = Array.from({ length: partitionCount }, (_, number) => executionPartition(number))

  const write = async (partition: Partition, change: (tx: Tx) => void): Promise<void> => {
    const catalogue = operations as unknown as Record<string, unknown>
    catalogue['write'] = change
    await store.run(partition, [{ operation: 'write', input: {}, blobs: [] } as unknown as Call])
    delete catalogue['write']
  }

  return {
    runtime,
    store,
    batcher,
    log: recordingLog(),
    async submit({ partition = 0, ...wish } = {}) {
      const executionId = `${partition}-${runtime.uuid()}` as ExecutionId
      await batcher.run(executionPartition(partition), 'createExecution', { ...plainWish(executionId), ...wish })
      return executionId
    },
    async claim(lane = 'main', partition = 0) {
      const reply = await batcher.run(executionPartition(partition), 'claimForWorker', {
        requestId: runtime.uuid(),
        workerId: 'worker',
        workerInstanceId: 'worker-1',
        queues: [{ lane, class: '' }],
        count: 50,
        leaseTtlMs: LEASE_TTL_DEFAULT_MS,
        seed: 1,
      })
      return reply.result.executions
    },
    async complete({ executionId, fence }) {
      await batcher.run(executionPartition(Number(executionId.split('-')[0])), 'completeExecution', {
        executionId,
        fence,
      })
    },
    async events(type) {
      const pages = await Promise.all(partitions.map((partition) => store.readEvents(partition, 0, MOST_EVENTS)))
      return pages.flatMap((page) => page.events).filter((event) => type === undefined || event.type === type)
    },
    async executions() {
      const dumps = await Promise.all(partitions.map((partition) => store.dump(partition)))
      return dumps.flatMap((dump) => dump.records).filter((record) => record.type === 'execution')
    },
    write,
    damageIndex: (partition, index, id, score) => write(partition, (tx) => tx.repair(index, id, score)),
  }
}

export function plainWish(executionId: ExecutionId): CreateInput {
  return {
    executionId,
    requestId: `request of ${executionId}`,
    namespace: 'default',
    task: 'greet',
    lane: 'main',
    class: '',
    priority: 0,
    tags: [],
    retry: { attempts: 1, backoff: { kind: 'fixed', delayMs: 1_000 }, jitter: false, onlyCategories: [] },
    retentionMs: RETENTION_DEFAULT_MS,
    ifExists: 'reject',
  }
}

/** Wraps a store and overrides some of its methods, for example so that it does not answer. */
export function storeWith(store: Store, ways: Partial<Store>): Store {
  return {
    settings: store.settings,
    level: store.level,
    run: (partition, calls) => store.run(partition, calls),
    readEvents: (partition, after, limit) => store.readEvents(partition, after, limit),
    trimEvents: (partition, olderThan, keepCount) => store.trimEvents(partition, olderThan, keepCount),
    recordFacts: (kind, names) => store.recordFacts(kind, names),
    findFacts: (kind, names) => store.findFacts(kind, names),
    onWake: (listener) => store.onWake(listener),
    report: () => store.report(),
    dump: (partition) => store.dump(partition),
    close: () => store.close(),
    ...ways,
  }
}

/** The value of a counter or gauge, or how often a histogram was added to; zero if it was never touched. */
export function valueOf(metrics: MetricsRegistry, name: string, labels: Readonly<Record<string, string>>): number {
  const sample = metrics
    .snapshot()
    .find(
      (one) =>
        one.metric.name === name && Object.entries(labels).every(([label, value]) => one.labels[label] === value),
    )
  if (sample === undefined) return 0
  return 'value' in sample ? sample.value : sample.count
}

/** Lets turns of the event loop pass, without moving the clock, until something holds. */
export async function until(runtime: VirtualRuntime, condition: () => boolean | Promise<boolean>): Promise<void> {
  for (let i = 0; i < TURNS_MAX; i++) {
    if (await condition()) return
    await runtime.advance(0)
  }
  throw new Error('what was waited for did not come about')
}

const TURNS_MAX = 200
