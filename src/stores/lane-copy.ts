/**
 * Copies the settings of a lane to every partition of executions, and notes that it is done. Every step is idempotent, so a crash
 * or a second copier does no harm: the rest is done by the next one.
 */
import type { Lane } from '../kernel/index.ts'
import type { Batcher } from './batcher.ts'
import { STORE_PARTITION, partitionsOf } from './partitions.ts'

export async function copyLane(batcher: Batcher, lane: Lane): Promise<void> {
  const partitions = partitionsOf(batcher.store.settings, ['fp'])
  await Promise.all(partitions.map((partition) => batcher.run(partition, 'applyLane', { lane })))
  await batcher.run(STORE_PARTITION, 'confirmLane', { lane: lane.id, version: lane.version })
}
