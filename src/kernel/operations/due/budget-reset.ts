import { lacksBudgetBoundaries, budgetDueAt } from '../../rules/budget-state.ts'
import { passBoundaries } from '../../lifecycle/budgets/boundaries.ts'
import type { NamedDueCase } from './due-case.ts'

/**
 * Begins a budget anew at its boundary. The report of one that lacks boundaries asks the engine for more, and that of one whose change
 * has not woken its work asks the engine to do so.
 */
export const budgetReset: NamedDueCase<'budget'> = {
  name: 'budget_reset',
  dueAt: budgetDueAt,
  run: passBoundaries,
  outcomeOf: (budget, now) => {
    if (budget.wakeAt !== undefined) return { name: 'budget_waking', isStillDue: false }
    return { name: lacksBudgetBoundaries(budget, now) ? 'budget_planning' : 'budget_reset', isStillDue: false }
  },
}
