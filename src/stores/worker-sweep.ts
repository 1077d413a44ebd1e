/**
 * Revokes the leases of a lost or dead worker in every partition of executions, and records that it is done. Every step is
 * idempotent, so a crash or a second sweeper does no harm: what is left is done by the next sweep.
 */
import type { ExecutionId, RevokeCursor, UnsweptWorker } from '../kernel/index.ts'
import type { Batcher } from './batcher.ts'
import { STORE_PARTITION, partitionsOf } from './partitions.ts'
import type { Partition } from './store.ts'

/** Returns the executions that other workers can claim now. */
export async function sweepWorker(batcher: Batcher, worker: UnsweptWorker): Promise<ExecutionId[]> {
  const revoked: ExecutionId[] = []
  for (const partition of partitionsOf(batcher.store.settings, ['fp'])) {
    revoked.push(...(await revokeIn(batcher, partition, worker)))
  }
  const { workerInstanceId, since } = worker
  await batcher.run(STORE_PARTITION, 'recordWorkerSweep', { workerInstanceId, since })
  return revoked
}

async function revokeIn(batcher: Batcher, partition: Partition, worker: UnsweptWorker): Promise<ExecutionId[]> {
  const { workerInstanceId, silentMs, leaseTtlMs, reason, by } = worker
  const revoked: ExecutionId[] = []
  let cursor: RevokeCursor | undefined
  do {
    const input = { workerInstanceId, silentMs, leaseTtlMs, reason, by, cursor }
    const { result } = await batcher.run(partition, 'revokeWorkerLeases', input)
    revoked.push(...result.executionIds)
    cursor = result.cursor
  } while (cursor !== undefined)
  return revoked
}
