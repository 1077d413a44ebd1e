/** The partitions of a store. Each family has its own numbers. */
import { createHash } from 'node:crypto'
import { rootInId } from '../kernel/index.ts'
import type { PartitionFamily } from '../kernel/index.ts'
import type { Partition, StoreSettings } from './store.ts'

/** The only partition of what concerns the store as a whole. */
export const STORE_PARTITION: Partition = 'm:0'

/** Limits and budgets of a store on a server are spread over as many partitions. */
export const SERVER_LIMIT_PARTITIONS = 4

/** In SQL tables a partition is a number. Execution partitions keep theirs; each other family has a range of its own. */
const LIMITS_FROM = 10_000
const STORE_NUMBER = 20_000

export function familyOf(partition: Partition): PartitionFamily {
  return partition.slice(0, partition.indexOf(':')) as PartitionFamily
}

/** Returns the number of a partition in SQL tables, unique over all families. */
export function partitionNumber(partition: Partition): number {
  const number = Number(partition.slice(partition.indexOf(':') + 1))
  switch (familyOf(partition)) {
    case 'fp':
      return number
    case 'q':
      return LIMITS_FROM + number
    case 'm':
      return STORE_NUMBER + number
  }
}

/** The partitions of some families, in the order of their numbers. */
export function partitionsOf(settings: StoreSettings, families: readonly PartitionFamily[]): Partition[] {
  const counts = { fp: settings.executionPartitions, q: settings.limitPartitions, m: 1 }
  return (['fp', 'q', 'm'] as const)
    .filter((family) => families.includes(family))
    .flatMap((family) => Array.from({ length: counts[family] }, (_, number): Partition => `${family}:${number}`))
}

/** All partitions of a store. */
export function allPartitions(settings: StoreSettings): Partition[] {
  return partitionsOf(settings, ['fp', 'q', 'm'])
}

/**
 * All partitions in the order in which cursors and consumers number their logs. Those of limits come last, because a store may get
 * more of them.
 */
export function logPartitions(settings: StoreSettings): Partition[] {
  return (['fp', 'm', 'q'] as const).flatMap((family) => partitionsOf(settings, [family]))
}

/** Returns the partition of a limit or a budget, by a hash of its name; of a budget, by that of the root of its tree. */
export function limitPartition(name: string, { limitPartitions }: StoreSettings): Partition {
  const hash = createHash('sha256').update(rootInId(name)).digest().readUInt32BE(0)
  return `q:${hash % limitPartitions}`
}
