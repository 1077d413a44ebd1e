/** The ids of budgets and of what belongs to them. The id of a budget is also the name of its permits. */
import { SEPARATOR, joinName, nameStart } from './names.ts'

/** The id of a budget. No limit has this name, because it contains the separator. */
export function budgetId(root: string, name: string): string {
  return joinName(root, name)
}

/** Whether permits are of a budget instead of a limit. */
export function isBudgetId(limit: string): boolean {
  return limit.includes(SEPARATOR)
}

export function accountId(root: string, name: string, key: string): string {
  return accountIdOf(budgetId(root, name), key)
}

export function accountIdOf(budget: string, key: string): string {
  return joinName(budget, key)
}

/** The id of a charge or a reservation, by the key that identifies the call. */
export function chargeId(root: string, key: string): string {
  return joinName(root, key)
}

export function pastPeriodId(account: string, period: number): string {
  return joinName(account, String(period))
}

/** Returns the root of the tree of a budget, by its id. A limit is its own root. */
export function rootInId(id: string): string {
  return nameStart(id)
}

/** Returns the name of a budget in its id. */
export function nameInBudgetId(id: string): string {
  return id.substring(rootInId(id).length + SEPARATOR.length)
}
