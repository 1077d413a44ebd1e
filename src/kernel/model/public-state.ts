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
  return state.phase === 'blocked' ? blockedStates[state.by] : state.phase
}

const blockedStates: Readonly<Record<BlockCause, PublicState>> = {
  dependencies: 'waiting_dependencies',
  limit: 'rate_limited',
  hold: 'waiting',
  order: 'waiting_dependencies',
}
