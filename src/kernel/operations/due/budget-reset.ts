import { budgetDueAt, lacksBudgetBoundaries } from '../../rules/budget-state.ts'
import { passBoundaries } from '../../lifecycle/budgets/boundaries.ts'
import type { NamedDueCase } from './due-case.ts'

/** Begins a budget anew at its boundary. The report of one that lacks boundaries asks the engine for more. */
export const budgetReset: NamedDueCase<'budget'> = {
  name: 'budget_reset',
  dueAt: budgetDueAt,
  run: passBoundaries,
  outcomeOf: (budget, now) => {
    return { name: lacksBudgetBoundaries(budget, now) ? 'budget_planning' : 'budget_reset', isStillDue: false }
  },
}
