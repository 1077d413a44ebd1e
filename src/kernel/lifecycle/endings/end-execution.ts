/** Ending an execution, with everything that follows from it. */
import { bucketOf } from '../../rules/flow-state.ts'
import { settleMember } from '../flows/resolve-edges.ts'
import { enterEnded } from '../phases.ts'
import type { Ending } from '../phases.ts'
import type { Execution, LeaseEnd } from '../../model/records.ts'
import type { Tx } from '../../tx.ts'

/** Ends an execution from any phase that is not the last; its flow, if it has one, follows. */
export function endExecution(tx: Tx, execution: Execution, ending: Ending): void {
  const before = bucketOf(execution)
  enterEnded(tx, execution, ending)
  if (execution.member !== undefined) settleMember(tx, execution, before)
}

/** Ends an execution as cancelled, from any phase that is not the last. */
export function endCancelled(tx: Tx, execution: Execution, reason: string, by: string, how: LeaseEnd): void {
  endExecution(tx, execution, {
    outcome: 'cancelled',
    how,
    reason,
    by,
    failure: undefined,
    attemptOutcome: 'cancelled',
  })
}
