/** What is asked of every system whose fleet is measured, inside each process of the fleet. */
import type { ProcessUse } from '../processes/process-use.ts'
import type { Load } from '../workload.ts'
import type { Timers } from './timers.ts'

export interface MemberSystem {
  /** Connects, and starts a worker that claims whatever any process of the fleet has submitted. */
  readonly open: (order: MemberOrder) => Promise<MemberSession>
}

export interface MemberOrder {
  readonly url: string
  /** How many handlers of this process may run at once. */
  readonly concurrency: number
  /** How many executions may be claimed beyond those. */
  readonly prefetch: number
  readonly timers: Timers
}

export interface MemberSession extends AsyncDisposable {
  /** Resolves when the store has acknowledged the work. */
  readonly submit: (load: Load) => Promise<unknown>
  /** How many completions of this process the store has acknowledged. */
  readonly completedCount: () => number
  /** How many executions of the whole fleet are completed by what the store keeps of them. */
  readonly storedCount: () => Promise<number>
  readonly use: () => ProcessUse
}
