/**
 * The rows that one execution's life leaves in a file store, step by step. They are taken from the kernel by letting it
 * run one execution and looking at what changed, so they are the right ones whatever the kernel writes.
 */
import { Client, encodeValue, task } from '../src/client/index.ts'
import { PAYLOAD_BYTES } from '../src/kernel/index.ts'
import type { Claimed } from '../src/kernel/index.ts'
import { systemRuntime } from '../src/runtime/index.ts'
import { MemoryStore } from '../src/stores/memory/memory-store.ts'
import { executionPartition } from '../src/stores/store.ts'
import { rowsBetween, uuidsIn } from './rows.ts'
import type { Row } from './rows.ts'

export interface LifeRows {
  /** Stand in the values wherever those of another life belong. */
  readonly uuids: readonly string[]
  /** What is written together, one after the other. */
  readonly steps: readonly (readonly Row[])[]
}

const TASK_NAME = 'bench.noop'
const LEASE_TTL_MS = 30_000

export async function lifeRows(payload: unknown, result: unknown): Promise<LifeRows> {
  const runtime = systemRuntime()
  const store = new MemoryStore(runtime, { executionPartitions: 1, indexedTags: [] })
  await using client = new Client(store, runtime)
  const noop = task(TASK_NAME)
  // The first submit to a queue registers it; the later ones find it there.
  await (await client.submit(noop, payload)).cancel()

  let before = await store.dump(executionPartition(0))
  const changes = async (bytes: Uint8Array) => {
    const after = await store.dump(executionPartition(0))
    const rows = rowsBetween(before, after, bytes)
    before = after
    return rows
  }
  const execution = await client.submit(noop, payload)
  const created = await changes(encode(payload))
  const claimed = await claimOne(client)
  const taken = await changes(new Uint8Array())
  await complete(client, claimed, encode(result))
  const completed = await changes(encode(result))
  return { uuids: uuidsIn([execution.id]), steps: [created, taken, completed] }
}

function encode(value: unknown): Uint8Array {
  return encodeValue(value, 'value', PAYLOAD_BYTES)?.bytes ?? new Uint8Array()
}

async function claimOne(client: Client): Promise<Claimed> {
  const { result } = await client.batcher.run(executionPartition(0), 'claimForWorker', {
    requestId: client.runtime.uuid(),
    workerId: 'bench',
    workerInstanceId: client.runtime.uuid(),
    queues: [{ lane: 'default', class: TASK_NAME }],
    count: 1,
    leaseTtlMs: LEASE_TTL_MS,
    seed: 1,
  })
  const [claimed] = result.executions
  if (claimed === undefined) throw new Error('Nothing could be claimed.')
  return claimed
}

async function complete(client: Client, { executionId, fence }: Claimed, bytes: Uint8Array): Promise<void> {
  const result = { blob: 0, size: bytes.byteLength, encoding: 'json' } as const
  await client.batcher.run(executionPartition(0), 'completeExecution', { executionId, fence, result }, [bytes])
}
