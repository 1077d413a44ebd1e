/** An operation that has run in the simulated world, for the checks that judge it. */
import type { OperationName } from '../../../src/kernel/index.ts'
import type { Partition } from '../../../src/stores/store.ts'

export interface Effect {
  readonly now: number
  readonly partition: Partition
  readonly operation: OperationName
  readonly input: object
  readonly result: unknown
  /** The lanes that were paused in the partition. */
  readonly paused: ReadonlySet<string>
}
