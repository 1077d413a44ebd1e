import type { Writes } from '../../working-set/stored-data.ts'

/** What a batch leaves to be written in one partition. */
export interface PartitionWrites {
  readonly number: number
  /** The number of the partition's newest event before these. */
  readonly lastSequence: number
  readonly writes: Writes
}
