/** Checks the fence of a call against the lease of an execution. */
import type { Execution, Fence, LeaseEnd, Outcome } from '../model/records.ts'
import { refusedFor } from '../results.ts'
import type { Refused } from '../results.ts'
import type { Tx } from '../tx.ts'

export type LeaseRefusal = Refused<'execution_not_active' | 'stale_lease' | 'lease_expired' | 'lease_revoked'>

/** Whether the fence belongs to the latest claim of the execution. */
export function isCurrent(execution: Execution, fence: Fence): boolean {
  return execution.epoch === fence.epoch && execution.attempt?.number === fence.attempt
}

/** Returns undefined if the fence matches the live lease. Expiry is inclusive: at `expiresAt` a lease has expired. */
export function refuseUnlessHeld(tx: Tx, execution: Execution, fence: Fence): LeaseRefusal | undefined {
  const state = execution.state
  if (state.phase !== 'active') return refusedFor(lossOf(execution, fence), execution)
  if (state.lease.expiresAt <= tx.now) return refusedFor('lease_expired', execution)
  if (state.lease.id !== fence.leaseId || !isCurrent(execution, fence)) return refusedFor('stale_lease', execution)
  return undefined
}

function lossOf(execution: Execution, fence: Fence): 'lease_expired' | 'lease_revoked' | 'execution_not_active' {
  if (leaseEnded(execution, fence, 'lease_expired')) return 'lease_expired'
  if (leaseEnded(execution, fence, 'lease_revoked')) return 'lease_revoked'
  return 'execution_not_active'
}

/** Whether the lease of this fence ended in this way. A repeated call of its holder then gets the same answer. */
export function leaseEnded(execution: Execution, fence: Fence, how: LeaseEnd): boolean {
  const last = execution.lastLease
  if (last === undefined || last.how !== how || last.id !== fence.leaseId) return false
  return last.epoch === fence.epoch && execution.attempt?.number === fence.attempt
}

/** Whether the execution ended under this fence after it had undone its steps. */
export function hasUnwound(execution: Execution, fence: Fence): boolean {
  // Its follow-up may have begun since.
  if (leaseEnded(execution, fence, 'unwound')) return true
  const outcome = execution.unwinding?.outcome
  return outcome !== undefined && execution.state.phase === 'ended' && leaseEnded(execution, fence, outcome)
}

export type UnwindingRefusal = Refused<`execution_${Exclude<Outcome, 'completed'>}`>

export interface UnwindingInput {
  /** Refuses what this run would begin, if the execution is to undo its steps. What an earlier run has begun is found. */
  readonly unlessUnwinding?: boolean | undefined
}

/** Refuses work that begins while the execution undoes its steps. The code names the outcome that the execution ends with. */
export function refuseToBegin(execution: Execution, input: UnwindingInput): UnwindingRefusal | undefined {
  const unwinding = execution.unwinding
  if (input.unlessUnwinding !== true || unwinding === undefined) return undefined
  return refusedFor(`execution_${unwinding.outcome}`, execution)
}
