import type { Settled } from './attempt/report-outcome.ts'

/** States only advance, in this order. */
export type WorkerState = 'running' | 'draining' | 'stopping' | 'stopped'

/** The current activity of a worker, and its counts since the start. */
export interface WorkerStats {
  readonly state: WorkerState
  /** Running handlers. */
  readonly running: number
  /** Prefetched executions that wait for a slot. */
  readonly waiting: number
  /** Executions whose outcome is being reported to the store. */
  readonly settling: number
  readonly claimed: number
  /** Attempts by result. `left` was not reported to the store: the attempt timed out, or its lease was lost. */
  readonly settled: Readonly<Record<Settled, number>>
}

/** The result of closing a worker. */
export interface WorkerSummary {
  /** Handlers that finished while the worker was closing. */
  readonly finished: number
  /** Executions released: never started, or stopped when their signal was aborted. */
  readonly released: number
  /** Executions still leased at the end. They are claimable again when their leases expire. */
  readonly abandoned: number
}

/** Derives the summary from the counts before and after closing. */
export function summarise(before: WorkerStats, after: WorkerStats, abandoned: number): WorkerSummary {
  const finished: readonly Settled[] = [
    'completed',
    'failed',
    'retry_scheduled',
    'postponed',
    'parked',
    'skipped',
    'cancelled',
  ]
  const change = (settled: Settled) => after.settled[settled] - before.settled[settled]
  return {
    finished: finished.reduce((sum, settled) => sum + change(settled), 0),
    released: change('released'),
    abandoned,
  }
}
