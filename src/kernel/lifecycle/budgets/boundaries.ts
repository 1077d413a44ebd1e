/** What is due of budgets, as time passes: boundaries, and wakes of changes that their processes have not finished. */
import { BUDGET_PLAN_RETRY_MS, WAKE_DELIVERY_MS } from '../../limits.ts'
import type { Budget } from '../../model/budget-schema.ts'
import type { Instant } from '../../model/records.ts'
import { boundaryBefore, lacksBudgetBoundaries } from '../../rules/budget-state.ts'
import type { Tx } from '../../tx.ts'
import { emitBudgetChanged } from './budget-events.ts'

/** Moves a budget past the boundaries that have come, and asks for more of them. Accounts follow when they are used next. */
export function passBoundaries(tx: Tx, budget: Budget): void {
  const since = boundaryBefore(budget, tx.now)
  if (since !== budget.since) emitBudgetChanged(tx, budget, '', { effect: 'reset' })
  budget.since = since
  budget.boundaries = budget.boundaries.filter((at) => at > tx.now)
  budget.planAt = lacksBudgetBoundaries(budget, tx.now) ? tx.now + BUDGET_PLAN_RETRY_MS : undefined
  if (budget.wakeAt !== undefined && budget.wakeAt <= tx.now) budget.wakeAt = nextWake(tx, budget)
  tx.put(budget)
}

/** When the engine wakes the work of a change. Another one than before, so that a confirmation of an earlier change does not end it. */
export function nextWake(tx: Tx, { wakeAt = 0 }: Budget): Instant {
  return Math.max(tx.now + WAKE_DELIVERY_MS, wakeAt + 1)
}
