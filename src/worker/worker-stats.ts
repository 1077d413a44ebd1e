import type { Settled } from './attempt/report-outcome.ts'

/** In this order, never back. */
export type WorkerState = 'running' | 'draining' | 'stopping' | 'stopped'

/** What a worker is doing, and what it has done since it started. */
export interface WorkerStats {
  readonly state: WorkerState
  /** Handlers that run now. */
  readonly running: number
  /** Executions claimed ahead that wait for a slot. */
  readonly waiting: number
  /** Executions whose handlers have returned and whose end is on its way to the store. */
  readonly settling: number
  readonly claimed: number
  /** How many attempts ended in which way. `left` was not told to the store: it timed out, or its lease was lost. */
  readonly settled: Readonly<Record<Settled, number>>
}

/** What closing a worker came to. */
export interface WorkerSummary {
  /** Handlers that ran to their end after the worker began to close. */
  readonly finished: number
  /** Executions handed back: never started, or stopped when they were told to. */
  readonly released: number
  /** Executions still in hand when the time was up. They are offered again when their leases expire. */
  readonly abandoned: number
}

/** The difference that closing made. */
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
