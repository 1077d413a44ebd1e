/** One way of calling one operation. The table tries each of them in every situation. */
import { SUBMISSION_IDLE_MS } from '../../../src/kernel/index.ts'
import type { OperationCall } from './operation-call.ts'
import { RETENTION_MS, TOTAL_TIMEOUT_MS } from './world.ts'
import type { World } from './world.ts'

export type Trial = OperationCall & {
  /** What sets this way of calling it apart from the others; empty if there is only one. */
  readonly manner: string
  /** Counted from the start of the world. */
  readonly atMs: number
  readonly blobs: readonly string[]
  /**
   * A trial of what concerns flows only is made where there is a flow, and where there is nothing at all; one of what an
   * execution remembers, where it does, and once in every phase besides; one of the registry of workers, once in every phase;
   * one of limits, where an execution needs a permit, and once in every phase besides.
   */
  readonly about?: 'flow' | 'journal' | 'registry' | 'limit' | undefined
  /**
   * A claim commits timers that are over apart from the rest. A conflict about the rest, which nothing caused, makes it run again and take
   * the next timer of an execution too, so such a trial is made on a store without those conflicts.
   */
  readonly takesTimersFirst?: true | undefined
  /** What else has happened before the operation is tried, if anything. */
  readonly prepare?: ((world: World) => void) | undefined
}

/** When an operation is tried, unless the trial is about time: soon after the situation came about. */
export const SOON_MS = 5_000
/** After a delay and before the end of a cancel's grace. */
export const DELAYS_OVER_MS = 20_000
/** After the grace and before an attempt's timeout. */
export const GRACE_OVER_MS = 40_000
/** After the timeout and before the lease's end. */
export const TIMEOUT_OVER_MS = 50_000
/** After the lease's end and before the deadline. */
export const LEASES_OVER_MS = 70_000
export const DEADLINE_OVER_MS = TOTAL_TIMEOUT_MS + SOON_MS
export const RETENTION_OVER_MS = RETENTION_MS + SOON_MS
export const SUBMISSION_OVER_MS = SUBMISSION_IDLE_MS + SOON_MS
