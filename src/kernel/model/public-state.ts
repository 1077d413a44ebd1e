/** The states of an execution that users see, derived from its phase. */
import type { BlockCause, ExecutionState } from './records.ts'

export const publicStates = [
  'waiting',
  'delayed',
  'rate_limited',
  'waiting_dependencies',
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
  if (state.phase === 'ended') return state.outcome
  if (state.phase === 'eligible') return 'waiting'
  return state.phase === 'blocked' ? blockedState(state.by) : state.phase
}

function blockedState(by: BlockCause): PublicState {
  switch (by) {
    case 'dependencies':
      return 'waiting_dependencies'
    case 'budget':
    case 'limit':
      return 'rate_limited'
    case 'operator':
    case 'hold':
      return 'waiting'
  }
}
