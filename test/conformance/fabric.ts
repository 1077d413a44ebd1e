/** One store under test with a clock of its own, reached as a program reaches it: call by call, through the batcher. */
import type {
  AnyRecord,
  Attempt,
  DueInput,
  DueResult,
  Execution,
  ExecutionId,
  OperationInput,
  OperationName,
  OperationResult,
} from '../../src/kernel/index.ts'
import type { VirtualRuntime } from '../../src/runtime/index.ts'
import { Batcher } from '../../src/stores/batcher.ts'
import type { Reply } from '../../src/stores/batcher.ts'
import { executionPartition } from '../../src/stores/store.ts'
import type { Answer, Call, Partition, PartitionDump, Store, StoredEvent } from '../../src/stores/store.ts'
import type { Damage, Heal } from './damage.ts'
import { lendOrOpen } from './lent-stores.ts'
import { ordered } from './ordered-dump.ts'
import type { LentTarget, StoreTarget } from './store-target.ts'

/** Tags of these names have an index; tags of any other name have none. */
export const INDEXED_TAGS: readonly string[] = ['customer', 'team']

/** Due records one pass of the tests looks at. */
const DUE_LIMIT = 200

interface OpenFabric extends LentTarget {
  readonly batcher: Batcher
}

export class TestFabric {
  /** All of a test's executions live here, on stores of any number of partitions. */
  readonly partition: Partition = executionPartition(0)
  readonly #target: StoreTarget
  /** Other partitions that the test has used. */
  readonly #others = new Set<Partition>()
  #open: OpenFabric | undefined

  constructor(target: StoreTarget) {
    this.#target = target
  }

  async open(): Promise<void> {
    const lent = await lendOrOpen(this.#target, INDEXED_TAGS)
    this.#open = { ...lent, batcher: new Batcher(lent.target.store, lent.runtime) }
  }

  async close(): Promise<void> {
    const { batcher, giveBack } = this.#opened
    this.#open = undefined
    this.#others.clear()
    await batcher.close()
    await giveBack()
  }

  get runtime(): VirtualRuntime {
    return this.#opened.runtime
  }

  /** From here on the listeners of the store are notified of everything. */
  async untilListening(): Promise<void> {
    let isDecided = false as boolean
    const listening = this.#opened.target.untilListening().finally(() => {
      isDecided = true
    })
    // A store may have to try again after no time at all, and here not even that passes by itself.
    while (!isDecided) await this.runtime.advance(0)
    await listening
  }

  get store(): Store {
    return this.#opened.target.store
  }

  async run<N extends OperationName>(
    operation: N,
    input: OperationInput<N>,
    blobs?: readonly Uint8Array[],
  ): Promise<OperationResult<N>> {
    return (await this.reply(operation, input, blobs)).result
  }

  /** As `run`, with the bytes that came back. */
  reply<N extends OperationName>(
    operation: N,
    input: OperationInput<N>,
    blobs?: readonly Uint8Array[],
  ): Promise<Reply<N>> {
    return this.#opened.batcher.run(this.partition, operation, input, blobs)
  }

  /** As `run`, in another partition. */
  async runIn<N extends OperationName>(
    partition: Partition,
    operation: N,
    input: OperationInput<N>,
  ): Promise<OperationResult<N>> {
    this.#others.add(partition)
    return (await this.#opened.batcher.run(partition, operation, input)).result
  }

  /** The partitions besides that of the executions that the test has used. */
  get others(): readonly Partition[] {
    return [...this.#others]
  }

  /** Sends operations as one batch, past the batcher. */
  batch(...calls: Call[]): Promise<Answer[]> {
    return this.store.run(this.partition, calls)
  }

  /** The execution's record as everyone may see it. */
  async look(executionId: ExecutionId): Promise<Execution> {
    const result = await this.run('describeExecution', { executionId })
    if (result.kind === 'refused') throw new Error(`the test looks for ${executionId}, which does not exist`)
    return result.execution
  }

  async attemptsOf(executionId: ExecutionId): Promise<Attempt[]> {
    const result = await this.run('describeExecution', { executionId, attempts: true })
    if (result.kind === 'refused') throw new Error(`the test looks for ${executionId}, which does not exist`)
    return result.attempts
  }

  async exists(executionId: ExecutionId): Promise<boolean> {
    return (await this.run('describeExecution', { executionId })).kind === 'described'
  }

  /** Does what time alone makes due now. */
  duePass(input: Partial<DueInput> = {}): Promise<DueResult> {
    return this.run('runDue', { limit: DUE_LIMIT, seed: 1, ...input })
  }

  async dump(partition = this.partition): Promise<PartitionDump> {
    return ordered(await this.store.dump(partition))
  }

  async events(): Promise<readonly StoredEvent[]> {
    return (await this.dump()).events
  }

  /** Damages the stored form of an execution; the answer puts it back as it was. */
  async damage(executionId: ExecutionId, damage: Damage): Promise<Heal> {
    const { target } = this.#opened
    if (target.damage === undefined) throw new Error('no other program can reach the records of this store')
    return target.damage(this.partition, 'execution', executionId, damage)
  }

  /** Writes a record as no operation would. */
  plant(record: AnyRecord, partition = this.partition): Promise<void> {
    if (partition !== this.partition) this.#others.add(partition)
    return this.#opened.target.plant(partition, record)
  }

  /** Sets or removes an index entry, regardless of its record. */
  setEntry(index: string, id: string, score: number | undefined, partition = this.partition): Promise<void> {
    return this.#opened.target.setEntry(partition, index, id, score)
  }

  get #opened(): OpenFabric {
    if (this.#open === undefined) throw new Error('the fabric is used outside of a test')
    return this.#open
  }
}

/** One operation as it goes into a batch. */
export function call<N extends OperationName>(
  operation: N,
  input: OperationInput<N>,
  blobs: readonly Uint8Array[] = [],
): Call {
  return { operation, input, blobs }
}
