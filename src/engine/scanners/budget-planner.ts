/** Gives the budgets that a due pass has handled their next boundaries, as far as they lack some. */
import { budgetBoundaries } from '../../calendar/budget-boundaries.ts'
import { BUDGET_PLAN_MAX, lacksBudgetBoundaries, lastBoundary, nameInBudgetId, rootInId } from '../../kernel/index.ts'
import type { DueResult } from '../../kernel/index.ts'
import type { ScannedPartition } from '../runner/scanner.ts'

export async function planBudgets(partition: ScannedPartition, handled: DueResult['handled']): Promise<void> {
  // The report of a budget whose work is to be woken names no other case.
  const cases = ['budget_planning', 'budget_waking']
  const lacking = handled.filter((item) => cases.includes(item.case)).map((item) => item.executionId)
  for (const id of new Set(lacking)) await planBudget(partition, id)
}

/** Any process may do it at any time: an outdated plan is refused. */
async function planBudget(partition: ScannedPartition, id: string): Promise<void> {
  const place = { root: rootInId(id), name: nameInBudgetId(id) }
  const described = await partition.run('describeBudget', { ...place, key: '', limit: 1 })
  if (described.kind === 'refused') return
  const { budget, at } = described
  if (budget.period === undefined || !lacksBudgetBoundaries(budget, at)) return
  const after = lastBoundary(budget, at)
  // Boundaries that have passed while no engine ran need no place.
  const boundaries = budgetBoundaries(budget.period, Math.max(after, at), BUDGET_PLAN_MAX - budget.boundaries.length)
  await partition.run('planBudget', { ...place, period: budget.period, after, boundaries })
}
