/** Defines budgets and changes them live. A change applies to the next admission of every key. */
import { emitBudgetChanged } from '../../lifecycle/budgets/budget-events.ts'
import { BUDGET_LEVEL_MAX, BUDGET_PLAN_MAX, BUDGET_PLAN_RETRY_MS } from '../../limits.ts'
import { budgetId } from '../../model/budget-ids.ts'
import type { Amounts, BreachPolicy, Budget, BudgetPeriod } from '../../model/budget-schema.ts'
import type { Instant } from '../../model/records.ts'
import { refused } from '../../results.ts'
import type { Refused } from '../../results.ts'
import { equalAmounts } from '../../rules/budget-amounts.ts'
import { nextWake } from '../../lifecycle/budgets/boundaries.ts'
import { boundaryBefore, lacksBudgetBoundaries, lastBoundary } from '../../rules/budget-state.ts'
import type { Tx } from '../../tx.ts'

export interface BudgetName {
  readonly root: string
  readonly name: string
}

export interface DefineBudgetInput extends BudgetName {
  /** The budget above it, unless it is the root. */
  readonly parent?: string | undefined
  readonly hard: Amounts
  readonly soft: Amounts
  readonly onBreach: BreachPolicy
  readonly period?: BudgetPeriod | undefined
  /** The children of an execution spend it too. */
  readonly isInherited?: boolean | undefined
  /** Each execution has an account of its own. */
  readonly isPerExecution?: boolean | undefined
  /** The next boundaries of the period, ascending. */
  readonly boundaries: readonly Instant[]
  readonly by?: string | undefined
  readonly reason?: string | undefined
  /** The definition of a program. It does not apply once an operator has changed the budget. */
  readonly isDeclared?: boolean | undefined
}

export type DefineBudgetResult =
  /** `already_satisfied`: it had the same definition. `budget_kept`: an operator has changed it. */
  | {
      readonly kind: 'budget_defined' | 'budget_changed' | 'already_satisfied' | 'budget_kept'
      readonly budget: Budget
    }
  | Refused<'budget_not_found' | 'budget_tree_too_deep'>

export function defineBudget(tx: Tx, input: DefineBudgetInput): DefineBudgetResult {
  const { root, name, parent } = input
  const existing = tx.get('budget', budgetId(root, name))
  const isManual = input.isDeclared === true ? undefined : true
  if (existing !== undefined && isManual === undefined && isKept(existing)) {
    return { kind: 'budget_kept', budget: existing }
  }
  const isSettled = isManual === undefined || existing?.isManual === true
  if (existing !== undefined && existing.deletedAt === undefined && isSettled && isSame(existing, input)) {
    return { kind: 'already_satisfied', budget: existing }
  }
  const refusal = refuseParent(tx, root, name, parent)
  if (refusal !== undefined) return refusal

  const isSamePeriod =
    existing !== undefined && existing.deletedAt === undefined && isEqualPeriod(existing.period, input.period)
  const boundaries = isSamePeriod ? existing.boundaries : input.boundaries.slice(0, BUDGET_PLAN_MAX)
  const budget: Budget = {
    type: 'budget',
    id: budgetId(root, name),
    root,
    name,
    parent,
    hard: input.hard,
    soft: input.soft,
    onBreach: input.onBreach,
    period: input.period,
    boundaries,
    // An account keeps its period until the next boundary of the new definition.
    since: isSamePeriod ? existing.since : existing === undefined ? undefined : boundaryBefore(existing, tx.now),
    planAt: undefined,
    version: (existing?.version ?? 0) + 1,
    createdAt: existing === undefined || existing.deletedAt !== undefined ? tx.now : existing.createdAt,
    changedAt: tx.now,
    changedBy: input.by,
    isManual,
    changeReason: input.reason,
    freeze: existing?.freeze,
    isInherited: input.isInherited,
    isPerExecution: input.isPerExecution,
    deletedAt: undefined,
    wakeAt: existing === undefined ? undefined : nextWake(tx, existing),
  }
  if (lacksBudgetBoundaries(budget, tx.now)) budget.planAt = tx.now
  tx.put(budget)
  const effect = existing === undefined ? 'defined' : 'changed'
  emitBudgetChanged(tx, budget, '', { effect, by: input.by, reason: input.reason })
  return { kind: existing === undefined ? 'budget_defined' : 'budget_changed', budget }
}

function isKept({ isManual, deletedAt }: Budget): boolean {
  return isManual === true || deletedAt !== undefined
}

function isSame(budget: Budget, input: DefineBudgetInput): boolean {
  if (budget.parent !== input.parent || budget.onBreach !== input.onBreach) return false
  if (budget.isInherited !== input.isInherited || budget.isPerExecution !== input.isPerExecution) return false
  if (!equalAmounts(budget.hard, input.hard) || !equalAmounts(budget.soft, input.soft)) return false
  return isEqualPeriod(budget.period, input.period)
}

function isEqualPeriod(a: BudgetPeriod | undefined, b: BudgetPeriod | undefined): boolean {
  return a?.every === b?.every && a?.cron === b?.cron && a?.timeZone === b?.timeZone
}

/** Refuses a parent that does not exist, and one below so many others, or below the budget itself, that no path ends. */
function refuseParent(
  tx: Tx,
  root: string,
  name: string,
  parent: string | undefined,
): Refused<'budget_not_found' | 'budget_tree_too_deep'> | undefined {
  let above = parent
  for (let level = 1; above !== undefined; level++) {
    if (level >= BUDGET_LEVEL_MAX || above === name) return refused('budget_tree_too_deep', { limit: BUDGET_LEVEL_MAX })
    const budget = tx.get('budget', budgetId(root, above))
    if (budget === undefined || budget.deletedAt !== undefined) return refused('budget_not_found', { name: above })
    above = budget.parent
  }
  return undefined
}

export interface PlanBudgetInput extends BudgetName {
  /** The definition for which the boundaries were computed. Another one makes them void. */
  readonly period: BudgetPeriod
  /** The boundary after which the others were computed. */
  readonly after: Instant
  readonly boundaries: readonly Instant[]
}

export type PlanBudgetResult = { readonly kind: 'budget_planned' | 'plan_outdated' } | Refused<'budget_not_found'>

/** Stores the next boundaries of a budget, which a process with a calendar has computed. */
export function planBudget(tx: Tx, input: PlanBudgetInput): PlanBudgetResult {
  const budget = tx.get('budget', budgetId(input.root, input.name))
  if (budget === undefined || budget.deletedAt !== undefined) return refused('budget_not_found', { name: input.name })
  const isCurrent = isEqualPeriod(budget.period, input.period) && lastBoundary(budget, tx.now) === input.after
  if (!isCurrent || !lacksBudgetBoundaries(budget, tx.now)) return { kind: 'plan_outdated' }

  budget.boundaries = budget.boundaries.concat(input.boundaries).slice(0, BUDGET_PLAN_MAX)
  budget.planAt = lacksBudgetBoundaries(budget, tx.now) ? tx.now + BUDGET_PLAN_RETRY_MS : undefined
  tx.put(budget)
  return { kind: 'budget_planned' }
}
