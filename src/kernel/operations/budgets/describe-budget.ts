/** Lists budgets, and describes one with its accounts, its ledger and its past periods. */
import { BUDGET_PAGE_MAX } from '../../limits.ts'
import { accountId, budgetId } from '../../model/budget-ids.ts'
import { BUDGETS_INDEX, accountsIndex, chargesIndex, ledgerIndex, periodsIndex } from '../../model/indexes.ts'
import type { Position } from '../../model/order.ts'
import type { Account, Budget, Charge, ExecutionId, Instant, PastPeriod } from '../../model/records.ts'
import { refused } from '../../results.ts'
import type { Refused } from '../../results.ts'
import { isOfEarlierBudget, presentAccount } from '../../rules/budget-state.ts'
import type { Range, Tx } from '../../tx.ts'
import type { BudgetName } from './define-budget.ts'

export interface ListBudgetsInput {
  /** The id after which the page begins. */
  readonly cursor?: string | undefined
  readonly limit: number
}

export interface ListBudgetsResult {
  readonly kind: 'budgets_listed'
  /** By root and name. */
  readonly budgets: Budget[]
  readonly cursor: string | undefined
  readonly at: Instant
}

export function listBudgets(tx: Tx, input: ListBudgetsInput): ListBudgetsResult {
  const range = listBudgetsRange(input)
  const page = tx.scan(range, 'budget')
  const last = page[page.length - 1]
  const budgets = page.filter(({ deletedAt }) => deletedAt === undefined)
  return { kind: 'budgets_listed', budgets, cursor: page.length < range.limit ? undefined : last?.id, at: tx.now }
}

export function listBudgetsRange({ cursor, limit }: ListBudgetsInput): Range {
  return { index: BUDGETS_INDEX, from: positionOf(cursor), limit: pageOf(limit) }
}

export interface DescribeBudgetInput extends BudgetName {
  /** Only this key, used or not. */
  readonly key?: string | undefined
  /** The account after which the page begins. */
  readonly cursor?: string | undefined
  readonly limit: number
}

export type DescribeBudgetResult =
  | {
      readonly kind: 'budget_described'
      readonly budget: Budget
      /** As of now, by key. */
      readonly accounts: Account[]
      readonly cursor: string | undefined
      readonly at: Instant
    }
  | Refused<'budget_not_found'>

export function describeBudget(tx: Tx, input: DescribeBudgetInput): DescribeBudgetResult {
  const budget = tx.get('budget', budgetId(input.root, input.name))
  if (budget === undefined || budget.deletedAt !== undefined) return refused('budget_not_found', { name: input.name })
  const isOne = input.key !== undefined
  const range = accountsRange(input)
  const stored = isOne ? tx.getMany('account', [keyId(input)]) : tx.scan(range, 'account')
  const accounts: Account[] = []
  for (const account of stored)
    if (!isOfEarlierBudget(budget, account)) accounts.push(presentAccount(budget, account, tx.now))
  const last = stored[stored.length - 1]
  const cursor = isOne || stored.length < range.limit ? undefined : last?.id
  return { kind: 'budget_described', budget, accounts, cursor, at: tx.now }
}

/** The id of the account that the input names. */
export function keyId({ root, name, key = '' }: DescribeBudgetInput): string {
  return accountId(root, name, key)
}

export function accountsRange({ root, name, cursor, limit }: DescribeBudgetInput): Range {
  return { index: accountsIndex(budgetId(root, name)), from: positionOf(cursor), limit: pageOf(limit) }
}

export interface ReadChargesInput {
  /** The account whose ledger is read, or else the execution that has spent. */
  readonly account?: { readonly root: string; readonly name: string; readonly key: string } | undefined
  readonly spentBy?: ExecutionId | undefined
  readonly cursor?: Position | undefined
  readonly limit: number
}

export interface ReadChargesResult {
  readonly kind: 'charges_read'
  /** The latest first. */
  readonly charges: Charge[]
  readonly cursor: Position | undefined
}

export function readCharges(tx: Tx, input: ReadChargesInput): ReadChargesResult {
  const range = chargesRange(input)
  const charges = tx.scan(range, 'charge')
  const last = charges[charges.length - 1]
  const isLast = charges.length < range.limit || last === undefined
  return { kind: 'charges_read', charges, cursor: isLast ? undefined : { score: last.at, id: last.id } }
}

export function chargesRange({ account, spentBy = '' as ExecutionId, cursor, limit }: ReadChargesInput): Range {
  const index =
    account === undefined ? chargesIndex(spentBy) : ledgerIndex(accountId(account.root, account.name, account.key))
  return { index, from: cursor, reverse: true, limit: pageOf(limit) }
}

export interface ReadPeriodsInput {
  readonly root: string
  readonly name: string
  readonly key: string
  readonly cursor?: Position | undefined
  readonly limit: number
}

export interface ReadPeriodsResult {
  readonly kind: 'periods_read'
  /** The latest first. */
  readonly periods: PastPeriod[]
  readonly cursor: Position | undefined
}

export function readPeriods(tx: Tx, input: ReadPeriodsInput): ReadPeriodsResult {
  const range = periodsRange(input)
  const periods = tx.scan(range, 'past_period')
  const last = periods[periods.length - 1]
  const isLast = periods.length < range.limit || last === undefined
  return { kind: 'periods_read', periods, cursor: isLast ? undefined : { score: last.since, id: last.id } }
}

export function periodsRange({ root, name, key, cursor, limit }: ReadPeriodsInput): Range {
  return { index: periodsIndex(accountId(root, name, key)), from: cursor, reverse: true, limit: pageOf(limit) }
}

function positionOf(cursor: string | undefined): Position | undefined {
  return cursor === undefined ? undefined : { score: 0, id: cursor }
}

function pageOf(limit: number): number {
  return Math.max(1, Math.min(limit, BUDGET_PAGE_MAX))
}
