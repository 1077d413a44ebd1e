/** Claims and completes executions without a worker, for measurements that decide themselves what is held and when. */
import { encodeValue, partitionOf } from '../src/client/index.ts'
import type { Client } from '../src/client/index.ts'
import { RESULT_BYTES } from '../src/kernel/index.ts'
import type { Claimed } from '../src/kernel/index.ts'
import type { Partition } from '../src/stores/store.ts'
import { LANE } from './workload.ts'

const WORKER = 'bench'
const SEED = 1

export interface ClaimOrder {
  /** The name of the task. */
  readonly task: string
  readonly count: number
  readonly leaseTtlMs: number
}

export async function claimByHand(
  { batcher, runtime }: Client,
  partition: Partition,
  { task, count, leaseTtlMs }: ClaimOrder,
): Promise<Claimed[]> {
  const { result } = await batcher.run(partition, 'claimForWorker', {
    requestId: runtime.uuid(),
    workerId: WORKER,
    workerInstanceId: runtime.uuid(),
    queues: [{ lane: LANE, class: task }],
    count,
    leaseTtlMs,
    seed: SEED,
  })
  return result.executions
}

export async function completeByHand({ batcher }: Client, claimed: Claimed, value: unknown): Promise<void> {
  const encoded = encodeValue(value, 'result', RESULT_BYTES)
  if (encoded === undefined) throw new Error('An execution is completed with a result.')
  const { executionId, fence } = claimed
  const input = { executionId, fence, result: encoded.input }
  const { result } = await batcher.run(partitionOf(executionId), 'completeExecution', input, [encoded.bytes])
  if (result.kind !== 'completed') throw new Error(`An execution was not completed: ${result.kind}.`)
}
