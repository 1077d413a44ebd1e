/** Handles a lease that expired or was revoked. */
import { COMPENSATION_RECLAIM_COUNT, RECLAIM_CAP } from '../../limits.ts'
import type { Failure } from '../../model/base-records.ts'
import type { Execution, Outcome } from '../../model/records.ts'
import type { Tx } from '../../tx.ts'
import { recordAttempt } from '../attempts.ts'
import { makeEligible } from '../phases.ts'
import { endExecution, unwindCompensated } from './end-execution.ts'
import { cancelIfRequested } from './pending-cancel.ts'

export interface LostLease {
  readonly how: 'lease_expired' | 'lease_revoked'
  readonly reason: string
  readonly by?: string | undefined
}

/**
 * Handles a lost lease. Cancels the execution if a cancel is pending, fails it if too many leases were lost, and
 * otherwise makes it eligible for a new attempt. Its compensations run before it fails. Returns the outcome if it ended.
 */
export function requeueLostLease(tx: Tx, execution: Execution, loss: LostLease): Outcome | undefined {
  const { how, reason, by } = loss
  const state = execution.state
  if (state.phase !== 'active') return tx.fault('a lost lease belongs to an execution that is not active', execution.id)
  const cancelled = cancelIfRequested(tx, execution, how)
  if (cancelled !== undefined) return cancelled === 'ended' ? 'cancelled' : undefined
  const failure: Failure = { category: how, message: reason, stack: undefined, at: tx.now }
  const cap = RECLAIM_CAP + (execution.unwinding === undefined ? 0 : COMPENSATION_RECLAIM_COUNT)
  if (execution.reclaimCount >= cap) {
    const stop = { outcome: 'failed', reason: 'reclaims_exhausted', by, failure } as const
    if (unwindCompensated(tx, execution, stop, how)) return undefined
    endExecution(tx, execution, { ...stop, how, attemptOutcome: how })
    return execution.unwinding?.outcome ?? 'failed'
  }
  recordAttempt(tx, execution, { outcome: how, endedAt: tx.now, failure })
  execution.refusals = undefined
  execution.reclaimCount = execution.reclaimCount + 1
  makeEligible(tx, execution, { next: 'reclaim', how, event: how, reason, by })
  return undefined
}
