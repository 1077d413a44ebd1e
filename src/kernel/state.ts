/** What follows from an execution's record alone: its public state, its timers, the order in which it is claimed. */
import type { BlockCause, Execution, ExecutionState, Instant } from './records.ts'

export const publicStates = [
  'waiting',
  'delayed',
  'rate_limited',
  'waiting_children',
  'active',
  'suspended',
  'completed',
  'failed',
  'cancelled',
  'expired',
  'skipped',
] as const

export type PublicState = (typeof publicStates)[number]

export function publicState(state: ExecutionState): PublicState {
  switch (state.phase) {
    case 'eligible':
      return 'waiting'
    case 'delayed':
      return 'delayed'
    case 'blocked':
      return blockedState(state.by)
    case 'active':
      return 'active'
    case 'suspended':
      return 'suspended'
    case 'ended':
      return state.outcome
  }
}

function blockedState(by: BlockCause): PublicState {
  switch (by) {
    case 'dependencies':
      return 'waiting_children'
    case 'budget':
    case 'limit':
      return 'rate_limited'
    case 'operator':
    case 'hold':
      return 'waiting'
  }
}

const PRIORITY_WEIGHT = 1_000_000_000_000

/** Ascending: the highest priority first, then the oldest. One step of priority outweighs any age; below 2^53 it is exact. */
export function claimScore(execution: Execution): number {
  return execution.createdAt - execution.priority * PRIORITY_WEIGHT
}

function earlier(a: Instant | undefined, b: Instant | undefined): Instant | undefined {
  if (a === undefined) return b
  if (b === undefined) return a
  return Math.min(a, b)
}

/** The earliest moment at which time alone changes this execution. */
export function dueAt(execution: Execution): Instant | undefined {
  const state = execution.state
  switch (state.phase) {
    case 'ended':
      return undefined
    case 'delayed':
      return earlier(state.until, execution.deadlineAt)
    case 'active':
      return earlier(
        earlier(state.lease.expiresAt, state.timeoutAt),
        earlier(state.cancel?.forceAt, execution.deadlineAt),
      )
    case 'eligible':
    case 'blocked':
    case 'suspended':
      return execution.deadlineAt
  }
}
