/** Who may change an active execution: fences, and what somebody is told whose lease is gone. */
import type { Execution, Fence, LeaseEnd } from '../model/records.ts'
import { refusedFor } from '../results.ts'
import type { Refused } from '../results.ts'
import type { Tx } from '../tx.ts'

export type LeaseRefusal = Refused<'execution_not_active' | 'stale_lease' | 'lease_expired' | 'lease_revoked'>

/** Whether nobody has taken the execution since this fence was given out. */
export function isCurrent(execution: Execution, fence: Fence): boolean {
  return execution.epoch === fence.epoch && execution.attempt?.number === fence.attempt
}

/** Undefined if the fence is the live lease's own. Expiry is inclusive: at exactly `expiresAt` the lease is dead. */
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

/** Whether this very lease ended this way: a call that its holder repeats is then answered as it was the first time. */
export function leaseEnded(execution: Execution, fence: Fence, how: LeaseEnd): boolean {
  const last = execution.lastLease
  if (last === undefined || last.how !== how || last.id !== fence.leaseId) return false
  return last.epoch === fence.epoch && execution.attempt?.number === fence.attempt
}
