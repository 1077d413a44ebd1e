import type { DueCase } from './due-case.ts'
import { requeueLostLease } from '../../lifecycle/endings/lost-lease.ts'

/** Requeues an execution whose lease has expired. Safe under racing engines: the lease is checked here. */
export const leaseExpiry: DueCase = {
  name: 'lease_expiry',
  isDue: (execution, now) => execution.state.phase === 'active' && execution.state.lease.expiresAt <= now,
  run: (tx, execution) => {
    requeueLostLease(tx, execution, { how: 'lease_expired', reason: 'the worker did not renew its lease' })
  },
}
