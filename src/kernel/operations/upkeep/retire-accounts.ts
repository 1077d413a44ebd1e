/**
 * Removes the accounts of executions that nothing spends any more. An execution may sleep for years and spend again, so its account is
 * not removed by age: only the partition of the execution knows whether one that spends it still exists.
 */
import { removeAccount } from '../../lifecycle/budgets/accounts.ts'
import { BUDGET_SWEEP_COUNT, SPENDER_SCAN_COUNT } from '../../limits.ts'
import { accountIdOf, budgetId } from '../../model/budget-ids.ts'
import { CREATED_INDEX, ledgerIndex } from '../../model/indexes.ts'
import type { Position } from '../../model/order.ts'
import type { Execution, ExecutionId } from '../../model/records.ts'
import { isIdleAccount, isOfExecution } from '../../rules/budget-state.ts'
import type { Range, Tx } from '../../tx.ts'
import { budgetsOf } from '../../lifecycle/limits/claim-admission.ts'

export interface FindSpendersInput {
  /** The ids of accounts. */
  readonly accounts: readonly string[]
  /** Their executions, which are looked at first. */
  readonly owners: readonly ExecutionId[]
  /** Where to continue among the other executions. */
  readonly cursor?: Position | undefined
}

export interface FindSpendersResult {
  readonly kind: 'spenders_found'
  /** The accounts that an execution of this call spends. */
  readonly spent: string[]
  readonly examined: number
  /** Where to continue; undefined if every account was found, or all executions were examined. */
  readonly cursor: Position | undefined
}

/**
 * Finds executions that spend some accounts, page by page and from the oldest: what inherits an account is created after an execution
 * that spends it, so no page that was read before lacks it. An execution that has ended counts, because a replay may go on with it.
 */
export function findSpenders(tx: Tx, input: FindSpendersInput): FindSpendersResult {
  const spent = new Set<string>()
  const look = (executions: readonly Execution[]): void => {
    for (const execution of executions) {
      for (const { limit, key } of budgetsOf(execution)) {
        const id = accountIdOf(limit, key)
        if (input.accounts.includes(id)) spent.add(id)
      }
    }
  }
  look(tx.getMany('execution', [...input.owners]))
  const isDone = (): boolean => input.accounts.every((id) => spent.has(id))
  if (isDone()) return { kind: 'spenders_found', spent: [...spent], examined: input.owners.length, cursor: undefined }

  const page = tx.scan(spendersRange(input), 'execution')
  look(page)
  const last = page[page.length - 1]
  const isLast = page.length < SPENDER_SCAN_COUNT || last === undefined || isDone()
  return {
    kind: 'spenders_found',
    spent: [...spent],
    examined: input.owners.length + page.length,
    cursor: isLast ? undefined : { score: last.createdAt, id: last.id },
  }
}

export function spendersRange({ cursor }: FindSpendersInput): Range {
  return { index: CREATED_INDEX, from: cursor, limit: SPENDER_SCAN_COUNT }
}

export interface RetireAccountsInput {
  /** The ids of accounts of executions. */
  readonly accounts: readonly string[]
  /** Those that an execution spends. */
  readonly spent: readonly string[]
}

export interface RetireAccountsResult {
  readonly kind: 'accounts_retired'
  readonly removed: string[]
}

/** Removes accounts that are still idle and that nothing spends. The others are not looked at again for as long. Idempotent. */
export function retireAccounts(tx: Tx, { accounts, spent }: RetireAccountsInput): RetireAccountsResult {
  const removed: string[] = []
  for (const account of tx.getMany('account', [...accounts])) {
    if (tx.room() <= BUDGET_SWEEP_COUNT) break
    const budget = tx.get('budget', budgetId(account.root, account.name))
    if (budget === undefined || budget.deletedAt !== undefined || !isOfExecution(budget, account)) continue
    if (!isIdleAccount(budget, account, tx.now)) continue
    if (tx.countUpTo({ index: ledgerIndex(account.id), limit: 1 }) > 0) continue
    if (spent.includes(account.id)) {
      account.keptAt = tx.now
      tx.put(account)
    } else if (removeAccount(tx, account)) removed.push(account.id)
  }
  return { kind: 'accounts_retired', removed }
}
