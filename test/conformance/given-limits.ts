/** Builders for limits: each names only what its test is about. */
import type {
  DefineLimitInput,
  DueResult,
  OperationInput,
  OperationName,
  OperationResult,
  PermitRequest,
  PermitReturn,
  ReturnAnswer,
  TakeAnswer,
} from '../../src/kernel/index.ts'
import type { Partition, PartitionDump } from '../../src/stores/store.ts'
import type { TestFabric } from './fabric.ts'

export const LIMIT = 'openai'
/** Every store has it. */
export const PARTITION: Partition = 'q:0'
export const TTL_MS = 33_000

/** Whose permits they are, and with which request they were taken, unless the test does not mind. */
export interface By {
  readonly process?: string | undefined
  readonly requestId?: string | undefined
  readonly ttlMs?: number | undefined
}

export class GivenLimits {
  readonly #fabric: TestFabric

  constructor(fabric: TestFabric) {
    this.#fabric = fabric
  }

  /** Runs an operation in the partition of the limit. */
  run<N extends OperationName>(operation: N, input: OperationInput<N>): Promise<OperationResult<N>> {
    return this.#fabric.runIn(PARTITION, operation, input)
  }

  dump(): Promise<PartitionDump> {
    return this.#fabric.dump(PARTITION)
  }

  duePass(): Promise<DueResult> {
    return this.run('runDue', { limit: 100, seed: 1, family: 'q' })
  }

  async limit(definition: Partial<DefineLimitInput> = { concurrency: 2 }): Promise<void> {
    await this.run('defineLimit', { name: LIMIT, ...definition })
  }

  /** One request of one key. */
  async take(needed: number, request: Partial<PermitRequest> = {}, by: By = {}): Promise<TakeAnswer> {
    const { answers } = await this.run('takePermits', {
      requestId: by.requestId ?? this.#fabric.runtime.uuid(),
      workerInstanceId: by.process ?? 'p1',
      ttlMs: by.ttlMs ?? TTL_MS,
      requests: [{ limit: LIMIT, key: '', weight: 1, needed, spare: 0, ...request }],
    })
    return answers[0]!
  }

  async giveBack(count: number, given: Partial<PermitReturn> = {}, by: By = {}): Promise<ReturnAnswer> {
    const { answers } = await this.run('returnPermits', {
      requestId: by.requestId ?? this.#fabric.runtime.uuid(),
      workerInstanceId: by.process ?? 'p1',
      returns: [{ limit: LIMIT, key: '', count, ...given }],
    })
    return answers[0]!
  }

  async renew(key = '', process = 'p1'): Promise<number> {
    const { left } = await this.run('renewPermits', {
      workerInstanceId: process,
      ttlMs: TTL_MS,
      keys: [{ limit: LIMIT, key }],
    })
    return left[0]!
  }

  /** Permits held of a key, as everyone may see them. */
  async heldOf(key = ''): Promise<number> {
    const described = await this.run('describeLimit', { name: LIMIT, key, limit: 1 })
    return described.kind === 'refused' ? 0 : (described.keys[0]?.held ?? 0)
  }
}
