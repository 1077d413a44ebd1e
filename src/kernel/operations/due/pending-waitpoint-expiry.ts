import { hasExpired, journalOf } from '../../rules/journal-ids.ts'
import { EXPIRED } from '../../lifecycle/journal/wait-targets.ts'
import { closeWaitpoints } from '../../lifecycle/journal/waitpoint-records.ts'
import { EXPIRED_WAITPOINT_COUNT } from '../../limits.ts'
import type { DueCase } from './due-case.ts'

/** Closes waitpoints whose wait did not begin in time. */
export const pendingWaitpointExpiry: DueCase = {
  name: 'pending_waitpoint_expiry',
  isDue: (execution, now) => {
    for (const open of execution.journal?.open ?? []) if (hasExpired(open, now)) return true
    return false
  },
  run: (tx, execution) => {
    const journal = journalOf(execution)
    const expired: string[] = []
    for (const open of journal.open) {
      if (hasExpired(open, tx.now) && expired.length < EXPIRED_WAITPOINT_COUNT) expired.push(open.target)
    }
    closeWaitpoints(tx, execution, { targets: expired, reason: EXPIRED })
    tx.put(execution)
    for (const target of expired) tx.emit('waitpoint_closed', execution, { waitpoint: target, reason: EXPIRED })
  },
}
