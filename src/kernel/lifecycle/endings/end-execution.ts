/** Ends executions and applies the consequences in their flow and for their parent. */
import { bucketOf } from '../../rules/flow-state.ts'
import { hasCompensations, hasStepsToUndo } from '../../rules/execution-state.ts'
import { resolveChild } from '../children/resolve-child.ts'
import { countChange } from '../flow-counts.ts'
import { beginFollowUp } from '../follow-up.ts'
import { resolveMember } from '../flows/resolve-edges.ts'
import { leaveLine, skipLine } from '../shaping/line.ts'
import { wakeSchedule } from '../wake-schedule.ts'
import { enterEnded, wakeToUnwind } from '../phases.ts'
import type { Ending, Stop } from '../phases.ts'
import type { Execution, Failure, LeaseEnd } from '../../model/records.ts'
import type { Tx } from '../../tx.ts'

/** Ends an execution from any other phase, and updates its flow and the journal of its parent. Its follow-up begins. */
export function endExecution(tx: Tx, execution: Execution, ending: Ending): void {
  const before = bucketOf(execution)
  enterEnded(tx, execution, ending)
  if (execution.member !== undefined) resolveMember(tx, execution, before)
  if (execution.parent !== undefined) resolveChild(tx, execution)
  if (execution.awaitedBy !== undefined) wakeSchedule(tx, execution, execution.awaitedBy)
  if (execution.shaping !== undefined) leaveLine(tx, execution, execution.shaping)
  // The journal of the next run would not know of children that are still to be cancelled.
  if (execution.followUp !== undefined && execution.journal?.childCancels === undefined) {
    beginFollowUp(tx, execution, execution.followUp)
  }
}

/** A cancel request that has not taken effect yet. */
export interface PendingCancel {
  readonly reason: string
  readonly by: string
}

/** Ends an execution as cancelled, from any other phase. `failure` is what went wrong while its steps were undone. */
export function endCancelled(tx: Tx, execution: Execution, cancel: PendingCancel, failure?: Failure): void {
  const { unwinding } = execution
  if (unwinding !== undefined) endUnwound(tx, execution, failure)
  else endStopped(tx, execution, { outcome: 'cancelled', reason: cancel.reason, by: cancel.by, failure }, 'cancelled')
}

/** Ends an execution that has undone its steps, or whose time for that is over. */
export function endUnwound(tx: Tx, execution: Execution, failure: Failure | undefined): void {
  const unwinding = execution.unwinding
  if (unwinding === undefined) return tx.fault('an execution ends as unwound that undoes no steps', execution.id)
  const { outcome, reason, by } = unwinding
  endStopped(tx, execution, { outcome, reason, by, failure }, outcome)
}

/** Ends an execution that is stopped from outside its handler. */
function endStopped(tx: Tx, execution: Execution, stop: Stop, how: LeaseEnd): void {
  const { outcome, reason, by, failure } = stop
  endExecution(tx, execution, {
    outcome,
    how,
    reason,
    by,
    failure,
    attemptOutcome: outcome === 'skipped' ? 'cancelled' : outcome,
  })
}

/**
 * Wakes an execution that is about to end without its handler, if the handler has registered compensations: they run
 * first. Returns false, and writes nothing, otherwise.
 */
export function unwindCompensated(tx: Tx, execution: Execution, stop: Stop, how: LeaseEnd): boolean {
  if (execution.unwinding !== undefined || !hasCompensations(execution)) return false
  stopExecution(tx, execution, stop, how)
  return true
}

/**
 * Stops an execution from any phase. If it has steps to undo, its handler runs once more and may undo them; otherwise it
 * ends. Returns which.
 */
export function stopExecution(tx: Tx, execution: Execution, stop: Stop, how: LeaseEnd): 'unwinding' | 'ended' {
  if (!hasStepsToUndo(execution)) {
    endStopped(tx, execution, stop, how)
    return 'ended'
  }
  const before = bucketOf(execution)
  if (execution.shaping !== undefined) skipLine(tx, execution)
  wakeToUnwind(tx, execution, stop, how)
  if (execution.member !== undefined) countChange(tx, execution, before)
  return 'unwinding'
}

/**
 * Stops an execution at its total deadline, in any phase and with any retries left. With completed steps its handler
 * may undo them first.
 */
export function stopAtDeadline(tx: Tx, execution: Execution): void {
  const failure: Failure = {
    category: 'deadline',
    message: 'the execution did not end before its deadline',
    stack: undefined,
    at: tx.now,
  }
  stopExecution(tx, execution, { outcome: 'expired', reason: 'execution_deadline', by: undefined, failure }, 'expired')
}
