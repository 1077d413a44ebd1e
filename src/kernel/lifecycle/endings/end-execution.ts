/** Ends executions and applies the consequences in their flow. */
import { bucketOf } from '../../rules/flow-state.ts'
import { hasStepsToUndo } from '../../rules/execution-state.ts'
import { countChange } from '../flow-counts.ts'
import { resolveMember } from '../flows/resolve-edges.ts'
import { enterEnded, wakeToUnwind } from '../phases.ts'
import type { Ending, Stop } from '../phases.ts'
import type { Execution, Failure, LeaseEnd } from '../../model/records.ts'
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
export function endCancelled(tx: Tx, execution: Execution, cancel: PendingCancel): void {
  endStopped(tx, execution, execution.unwinding ?? { outcome: 'cancelled', ...cancel }, 'cancelled')
}

/** Ends an execution that has undone its steps, or whose time for that is over. */
export function endUnwound(tx: Tx, execution: Execution, failure: Failure | undefined): void {
  const unwinding = execution.unwinding
  if (unwinding === undefined) return tx.fault('an execution ends as unwound that undoes no steps', execution.id)
  endStopped(tx, execution, unwinding, unwinding.outcome, failure)
}

/** Ends an execution that is stopped from outside its handler. */
function endStopped(tx: Tx, execution: Execution, stop: Stop, how: LeaseEnd, failure?: Failure): void {
  const { outcome, reason, by } = stop
  endExecution(tx, execution, {
    outcome,
    how,
    reason,
    by,
    failure: failure ?? (outcome === 'expired' ? deadlineFailure(tx) : undefined),
    attemptOutcome: outcome,
  })
}

function deadlineFailure(tx: Tx): Failure {
  return {
    category: 'deadline',
    message: 'the execution did not end before its deadline',
    stack: undefined,
    at: tx.now,
  }
}

/**
 * Stops an execution from any phase. If it has completed steps, its handler runs once more and may undo them; otherwise
 * it ends. Returns which.
 */
export function stopExecution(tx: Tx, execution: Execution, stop: Stop, how: LeaseEnd): 'unwinding' | 'ended' {
  if (!hasStepsToUndo(execution)) {
    endStopped(tx, execution, stop, how)
    return 'ended'
  }
  const before = bucketOf(execution)
  wakeToUnwind(tx, execution, stop, how)
  if (execution.member !== undefined) countChange(tx, execution, before)
  return 'unwinding'
}
