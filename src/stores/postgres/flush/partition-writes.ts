import type { Writes } from '../../working-set/overlay/stored-data.ts'

/** The writes of a batch in one partition. */
export interface PartitionWrites {
  readonly number: number
  /** The sequence of the newest event before these writes. */
  readonly lastSequence: number
  readonly writes: Writes
}
