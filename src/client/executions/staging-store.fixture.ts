/** A memory store beside a transaction that a test commits or rolls back. */
import type { Runtime } from '../../runtime/index.ts'
import { MemoryStore } from '../../stores/memory/memory-store.ts'
import type { Call, Partition, TransactionHandle } from '../../stores/store.ts'

interface Staged {
  readonly partition: Partition
  readonly call: Call<'createExecution'>
}

export class StagingStore extends MemoryStore {
  /** What is left in transactions that have not ended. */
  staged: Staged[] = []

  constructor(runtime: Runtime, executionPartitions = 1) {
    super(runtime, { executionPartitions, indexedTags: [] })
  }

  async stage(tx: TransactionHandle, partition: Partition, call: Call<'createExecution'>): Promise<void> {
    await tx.query('stage', [call.input.executionId])
    this.staged.push({ partition, call })
  }

  async commit(): Promise<void> {
    for (const { partition, call } of this.staged.splice(0)) await this.run(partition, [call])
  }

  rollback(): void {
    this.staged = []
  }
}
