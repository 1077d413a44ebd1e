/** The ids of budgets and of what belongs to them. The id of a budget is also the name of its permits. */
import type { ExecutionId } from './base-records.ts'
import { SEPARATOR, joinName, nameStart } from './names.ts'

/** The id of a budget. No limit has this name, because it contains the separator. */
export function budgetId(root: string, name: string): string {
  return joinName(root, name)
}

/** What the ids of all budgets of a tree begin with. */
export function treeStart(root: string): string {
  return joinName(root, '')
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

/** Returns the execution that an account of its own belongs to, by the key. Later runs of an id have a number behind it. */
export function ownerInKey(key: string): ExecutionId {
  const end = key.indexOf('.')
  return (end < 0 ? key : key.substring(0, end)) as ExecutionId
}

/** The id of an execution, and the number of its run if it is a later one. */
const KEY_OF_EXECUTION = /^\d{1,5}-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}(\.\d+)?$/

/**
 * Whether a key can be that of an account of an execution. A budget that is for each execution now may have other keys from before, which
 * executions of all partitions spend.
 */
export function isKeyOfExecution(key: string): boolean {
  return KEY_OF_EXECUTION.test(key)
}

/** Returns the number of the partition of an execution, with which its id begins; undefined for another text. */
export function partitionNumberIn(id: ExecutionId): number | undefined {
  return isKeyOfExecution(id) ? Number(id.slice(0, id.indexOf('-'))) : undefined
}

/** The id of a charge or a reservation, by the key that identifies the call. */
export function chargeId(root: string, key: string): string {
  return joinName(root, key)
}

/** The key of the line that marks a raise as made. No call has it, because it contains the separator. */
export function raiseKey(name: string, key: string, requestId: string): string {
  return joinName(joinName(name, key), requestId)
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
