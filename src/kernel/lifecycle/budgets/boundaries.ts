/** The boundaries of budgets, as time passes. */
import { BUDGET_PLAN_RETRY_MS } from '../../limits.ts'
import type { Budget } from '../../model/budget-schema.ts'
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
  tx.put(budget)
}
