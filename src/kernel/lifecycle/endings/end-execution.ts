/** Ends executions and applies the consequences in their flow. */
import { bucketOf } from '../../rules/flow-state.ts'
import { resolveMember } from '../flows/resolve-edges.ts'
import { enterEnded } from '../phases.ts'
import type { Ending } from '../phases.ts'
import type { Execution, LeaseEnd } from '../../model/records.ts'
import type { Tx } from '../../tx.ts'

/** Ends an execution from any other phase, and updates its flow. */
export function endExecution(tx: Tx, execution: Execution, ending: Ending): void {
  const before = bucketOf(execution)
  enterEnded(tx, execution, ending)
  if (execution.member !== undefined) resolveMember(tx, execution, before)
}

/** A cancel request that has not taken effect yet. */
export interface PendingCancel {
  readonly reason: string
  readonly by: string
}

/** Ends an execution as cancelled, from any other phase. */
export function endCancelled(tx: Tx, execution: Execution, cancel: PendingCancel, how: LeaseEnd = 'cancelled'): void {
  endExecution(tx, execution, {
    outcome: 'cancelled',
    how,
    reason: cancel.reason,
    by: cancel.by,
    failure: undefined,
    attemptOutcome: 'cancelled',
  })
}
