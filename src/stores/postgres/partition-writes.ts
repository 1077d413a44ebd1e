import type { Partition } from '../store.ts'
import type { Writes } from '../stored-data.ts'

/** What a batch leaves to be written in one partition. */
export interface PartitionWrites {
  readonly partition: Partition
  readonly number: number
  /** The number of the partition's newest event before these; undefined for one that has never had any. */
  readonly lastSequence: number | undefined
  readonly writes: Writes
}
