/** An execution that a test runs step by step, in place of a worker. */
import type { ExecutionId, Fence, SuspendResult, WaitpointView } from '../../kernel/index.ts'
import { silentLog, virtualRuntime } from '../../runtime/index.ts'
import { MemoryStore } from '../../stores/memory/memory-store.ts'
import { unwrap } from '../transport/unwrap.ts'
import { Client } from '../client.ts'
import { partitionOf } from '../transport/ids.ts'
import { KeyRing } from '../tokens/key-ring.ts'
import { encodeValue } from '../checks/payload.ts'
import { task } from '../define/task.ts'
import { Tokens } from '../tokens/token.ts'
import type { TokenRequest } from '../tokens/token.ts'
import { WAITABLE } from '../define/waitable.ts'
import type { Waitable } from '../define/waitable.ts'

const plain = task('plain')

/** A client of a store of its own, which signs tokens. Its runtime's clock can be moved. */
export function createClient({ partitions = 1, hasKeys = true } = {}): Client & { readonly clock: Clock } {
  const runtime = virtualRuntime()
  const store = new MemoryStore(runtime, { executionPartitions: partitions, indexedTags: [] })
  const tokens = new Tokens({ ring: () => ring }, runtime, silentLog)
  const ring = hasKeys ? KeyRing.begin(runtime.now()) : undefined
  return Object.assign(new Client(store, runtime, { tokens }), { clock: runtime })
}

type Clock = ReturnType<typeof virtualRuntime>

export class HeldExecution {
  readonly id: ExecutionId
  readonly #client: Client
  readonly #fence: Fence

  private constructor(client: Client, id: ExecutionId, fence: Fence) {
    this.#client = client
    this.id = id
    this.#fence = fence
  }

  /** A new execution, claimed. */
  static async begin(client: Client): Promise<HeldExecution> {
    const { id } = await client.submit(plain, undefined)
    return await HeldExecution.claim(client, id)
  }

  /** Claims whatever is ready in the execution's partition, which must be this one alone. */
  static async claim(client: Client, id: ExecutionId): Promise<HeldExecution> {
    const { result } = await client.batcher.run(partitionOf(id), 'claimForWorker', {
      requestId: client.runtime.uuid(),
      workerId: 'w1',
      workerInstanceId: 'i1',
      queues: [{ lane: 'default', class: 'plain' }],
      count: 1,
      leaseTtlMs: 30_000,
      seed: 1,
    })
    const claimed = result.executions[0]
    if (claimed?.executionId !== id) throw new Error(`${id} could not be claimed`)
    return new HeldExecution(client, id, claimed.fence)
  }

  async wait(name: string, waitable: Waitable<unknown>): Promise<Exclude<SuspendResult, { kind: 'refused' }>> {
    const { nodes, opens, reason, ...timing } = waitable[WAITABLE].plan(name)
    const input = { ...this.#held, stepKind: 'wait', name, nodes, opens, reason, ...timing } as const
    return unwrap((await this.#client.try.run(this.id, 'suspendExecution', input)).result)
  }

  async sleep(name: string, timeoutMs: number): Promise<void> {
    const root = { kind: 'timeout', parent: undefined, need: 1, by: 'once', name: undefined } as const
    const nodes = [{ ...root, from: [], targets: [] }]
    const rest = { opens: [], reason: 'sleep', timeoutMs, onTimeout: 'resume' } as const
    const input = { ...this.#held, stepKind: 'sleep', name, nodes, ...rest } as const
    unwrap((await this.#client.try.run(this.id, 'suspendExecution', input)).result)
  }

  async open(target: string): Promise<WaitpointView> {
    const input = { ...this.#held, target, keyId: this.#client.tokens.keyId, nonce: this.#client.runtime.uuid() }
    return unwrap((await this.#client.try.run(this.id, 'createWaitpoint', input)).result).waitpoint
  }

  /** The claims that all tokens of an opened waitpoint share. */
  claims({ target, waitpointId, generation, createdAt, keyId, nonce }: WaitpointView): TokenRequest {
    return { executionId: this.id, target, waitpointId, generation, openedAt: createdAt, keyId, nonce }
  }

  /** A token for a waitpoint that was opened. */
  token(waitpoint: WaitpointView, sub?: string, names?: readonly string[]): string {
    return this.#client.tokens.issue({ ...this.claims(waitpoint), sub, names })
  }

  async step(name: string, value: unknown): Promise<void> {
    const encoded = encodeValue(value, 'value', 1_000)
    const outcome = { kind: 'completed', value: encoded?.input } as const
    const input = { ...this.#held, stepKind: 'call', name, attemptCount: 1, outcome } as const
    const blobs = encoded === undefined ? [] : [encoded.bytes]
    unwrap((await this.#client.try.run(this.id, 'recordStep', input, blobs)).result)
  }

  async complete(): Promise<void> {
    unwrap((await this.#client.try.run(this.id, 'completeExecution', this.#held)).result)
  }

  get #held(): { readonly executionId: ExecutionId; readonly fence: Fence } {
    return { executionId: this.id, fence: this.#fence }
  }
}

export async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const collected: T[] = []
  for await (const item of items) collected.push(item)
  return collected
}
