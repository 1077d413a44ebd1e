import { cancelIfRequested } from '../../lifecycle/endings/pending-cancel.ts'
import { makeEligible } from '../../lifecycle/phases.ts'
import type { DueCase } from './due-case.ts'

/** Makes a delayed execution claimable after its delay. The kind of the next attempt stays the same. */
export const delayedPromoter: DueCase = {
  name: 'delayed_promoter',
  isDue: (execution, now) => execution.state.phase === 'delayed' && execution.state.until <= now,
  run: (tx, execution) => {
    if (cancelIfRequested(tx, execution) !== undefined) return
    makeEligible(tx, execution, { next: execution.next, event: 'execution_promoted' })
  },
}
