/** One operation of the kernel in the partition where its record lives: what all of a client's calls stand on. */
import type { ExecutionId, FlowId, OperationInput, OperationName } from '../../kernel/index.ts'
import type { Runtime } from '../../runtime/index.ts'
import type { Batcher, Reply } from '../../stores/batcher.ts'
import type { Partition, StoreSettings } from '../../stores/store.ts'
import { partitionOf, resolveExecutionId, resolveFlowId } from './ids.ts'
import { repeatWhileUnavailable } from './retry-unavailable.ts'
import type { SubmitSetting } from '../executions/submit.ts'

export class StoreCalls {
  protected readonly batcher: Batcher
  protected readonly runtime: Runtime
  readonly namespace: string

  constructor(batcher: Batcher, runtime: Runtime, namespace: string) {
    this.batcher = batcher
    this.runtime = runtime
    this.namespace = namespace
  }

  protected get settings(): StoreSettings {
    return this.batcher.store.settings
  }

  protected get submitSetting(): SubmitSetting {
    return { namespace: this.namespace, indexedTags: this.settings.indexedTags }
  }

  /** The execution that an id or a key names. */
  resolve(idOrKey: string): ExecutionId {
    return resolveExecutionId(idOrKey, this.namespace, this.settings.executionPartitions)
  }

  /** The flow that an id or a key names. */
  resolveFlow(idOrKey: string): FlowId {
    return resolveFlowId(idOrKey, this.namespace, this.settings.executionPartitions)
  }

  /**
   * One operation of the kernel, in the partition that the id names.
   * @internal
   */
  run<N extends OperationName>(
    id: ExecutionId | FlowId,
    operation: N,
    input: OperationInput<N>,
    blobs?: readonly Uint8Array[],
  ): Promise<Reply<N>> {
    return this.ask(partitionOf(id), operation, input, blobs)
  }

  protected ask<N extends OperationName>(
    partition: Partition,
    operation: N,
    input: OperationInput<N>,
    blobs?: readonly Uint8Array[],
  ): Promise<Reply<N>> {
    return repeatWhileUnavailable(this.runtime, () => this.batcher.run(partition, operation, input, blobs))
  }
}
