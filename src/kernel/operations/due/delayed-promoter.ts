import { cancelIfAsked } from '../../lifecycle/endings/pending-cancel.ts'
import { makeEligible } from '../../lifecycle/phases.ts'
import type { DueCase } from './due-case.ts'

/** Lets a delayed execution be claimed once its delay is over. What the next attempt is stays as it was decided. */
export const delayedPromoter: DueCase = {
  name: 'delayed_promoter',
  isDue: (execution, now) => execution.state.phase === 'delayed' && execution.state.until <= now,
  run: (tx, execution) => {
    if (cancelIfAsked(tx, execution)) return
    makeEligible(tx, execution, { next: execution.next, event: 'execution_promoted' })
  },
}
