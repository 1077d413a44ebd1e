import { recordAttempt } from '../../lifecycle/attempts.ts'
import { RECLAIM_CAP } from '../../limits.ts'
import { endExecution } from '../../lifecycle/endings/end-execution.ts'
import { cancelIfAsked } from '../leases/fail-execution.ts'
import { makeEligible } from '../../lifecycle/phases.ts'
import type { Execution, Failure, Outcome } from '../../model/records.ts'
import type { Tx } from '../../tx.ts'
import type { DueCase } from './due-case.ts'

/** Returns an execution to the queue when its worker has gone silent. Racing engines reclaim once: the lease is checked here. */
export const leaseExpiry: DueCase = {
  name: 'lease_expiry',
  isDue: (execution, now) => execution.state.phase === 'active' && execution.state.lease.expiresAt <= now,
  run: (tx, execution) => {
    requeueLostLease(tx, execution, 'lease_expired', 'the worker did not renew its lease', undefined)
  },
}

/**
 * The one way out of a lost lease: ended if somebody had asked for that or if leases were lost too often, else eligible
 * for a new attempt. Says the outcome if it ended.
 */
export function requeueLostLease(
  tx: Tx,
  execution: Execution,
  how: 'lease_expired' | 'lease_revoked',
  reason: string,
  by: string | undefined,
): Outcome | undefined {
  const state = execution.state
  if (state.phase !== 'active') return tx.fault('a lease is lost that nobody holds', execution.id)
  if (cancelIfAsked(tx, execution, how)) return 'cancelled'
  const failure: Failure = { category: how, message: reason, stack: undefined, at: tx.now }
  if (execution.reclaimCount >= RECLAIM_CAP) {
    endExecution(tx, execution, {
      outcome: 'failed',
      how,
      reason: 'reclaims_exhausted',
      by,
      failure,
      attemptOutcome: how,
    })
    return 'failed'
  }
  recordAttempt(tx, execution, how, tx.now, failure)
  execution.reclaimCount = execution.reclaimCount + 1
  makeEligible(tx, execution, { next: 'reclaim', how, event: how, reason, by })
  return undefined
}
