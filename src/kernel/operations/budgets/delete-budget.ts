/** Deletes budgets. Executions that name one spend the others that they name. */
import { nextWake } from '../../lifecycle/budgets/boundaries.ts'
import { emitBudgetChanged } from '../../lifecycle/budgets/budget-events.ts'
import { BUDGET_TREE_SCAN_MAX } from '../../limits.ts'
import { budgetId, treeStart } from '../../model/budget-ids.ts'
import { BUDGETS_INDEX } from '../../model/indexes.ts'
import type { Budget } from '../../model/budget-schema.ts'
import { refused } from '../../results.ts'
import type { Refused } from '../../results.ts'
import type { Range, Tx } from '../../tx.ts'
import type { BudgetName } from './define-budget.ts'

export interface DeleteBudgetInput extends BudgetName {
  readonly by?: string | undefined
  readonly reason?: string | undefined
}

export type DeleteBudgetResult =
  { readonly kind: 'budget_deleted' | 'budget_already_deleted' } | Refused<'budget_not_found' | 'budget_has_children'>

/**
 * Deletes a budget: it bounds and counts nothing from now on. Its name stays known, so that executions that name it need not wait.
 * Its accounts are removed in the background.
 */
export function deleteBudget(tx: Tx, { root, name, by, reason }: DeleteBudgetInput): DeleteBudgetResult {
  const budget = tx.get('budget', budgetId(root, name))
  if (budget === undefined) return refused('budget_not_found', { name })
  if (budget.deletedAt !== undefined) return { kind: 'budget_already_deleted' }
  const below = nameBelow(tx, budget)
  if (below !== undefined) return refused('budget_has_children', { name: below })

  budget.deletedAt = tx.now
  budget.changedAt = tx.now
  budget.changedBy = by
  budget.changeReason = reason
  budget.version = budget.version + 1
  budget.freeze = undefined
  budget.boundaries = []
  budget.planAt = undefined
  budget.wakeAt = nextWake(tx, budget)
  tx.put(budget)
  emitBudgetChanged(tx, budget, '', { effect: 'deleted', by, reason })
  return { kind: 'budget_deleted' }
}

/** Returns the name of a budget below another. A tree that is too large to search may have one. */
function nameBelow(tx: Tx, { root, name }: Budget): string | undefined {
  const tree = tx.scan(treeRange({ root }), 'budget')
  for (const other of tree) {
    if (other.root === root && other.parent === name && other.deletedAt === undefined) return other.name
  }
  const last = tree[tree.length - 1]
  return tree.length >= BUDGET_TREE_SCAN_MAX && last?.root === root ? last.name : undefined
}

/** The budgets of a tree, and those of the trees after it. */
export function treeRange({ root }: Pick<BudgetName, 'root'>): Range {
  return { index: BUDGETS_INDEX, from: { score: 0, id: treeStart(root) }, limit: BUDGET_TREE_SCAN_MAX }
}
