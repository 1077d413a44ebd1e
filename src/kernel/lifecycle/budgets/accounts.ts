/** The accounts of budgets: opened when a key is first used, and begun anew at the boundaries of their budget. */
import { BUDGET_PERIOD_MAX, BUDGET_SWEEP_COUNT } from '../../limits.ts'
import type { Account, AccountRef, Amounts, Budget, ParkedSpender } from '../../model/budget-schema.ts'
import { accountId, budgetId, pastPeriodId } from '../../model/budget-ids.ts'
import { gaugeId, periodsIndex } from '../../model/indexes.ts'
import type { Instant } from '../../model/records.ts'
import { addAmounts } from '../../rules/budget-amounts.ts'
import {
  boundaryBefore,
  heldUntilOf,
  isOfEarlierBudget,
  limitOfBudget,
  presentAccount,
} from '../../rules/budget-state.ts'
import type { Tx } from '../../tx.ts'
import { expectAbsent } from '../expect-absent.ts'
import { gaugeOf } from '../limits/gauges.ts'
import { takeWakes } from '../limits/wakes.ts'
import type { LimitWake } from '../limits/wakes.ts'
import { takeFitting } from './parked.ts'

/** A level of a tree, with its account as of now. */
export interface Level {
  readonly budget: Budget
  account: Account
  /** Whether new work was held back before the operation. */
  readonly wasHeld: boolean
}

/** Partitions with work that waits for a key of a budget, and has room now. */
export interface BudgetWake extends LimitWake {
  readonly name: string
  readonly key: string
}

/** Returns the account of a key as of now, or a new one. The caller puts it. */
export function accountOf(tx: Tx, budget: Budget, key: string): Account {
  const { root, name } = budget
  const id = accountId(root, name, key)
  const found = tx.get('account', id)
  if (found === undefined) return newAccount(tx, budget, id, key)
  if (!isOfEarlierBudget(budget, found)) return presentAccount(budget, found, tx.now)
  // The earlier account ends as a period, so that the numbers of those that follow are others. Delayed executions wait still.
  return { ...newAccount(tx, budget, id, key), period: found.period + 1, parked: found.parked }
}

function newAccount(tx: Tx, budget: Budget, id: string, key: string): Account {
  return {
    type: 'account',
    id,
    root: budget.root,
    name: budget.name,
    key,
    period: 1,
    since: boundaryBefore(budget, tx.now) ?? tx.now,
    spent: [],
    reserved: [],
    raised: [],
    raises: [],
    chargeCount: 0,
    tasks: [],
    total: [],
    totalCount: 0,
    removed: [],
    removedNow: [],
    reservationCount: 0,
    breachCount: 0,
    breachedAt: undefined,
    breachedDimension: undefined,
    refusedKey: undefined,
    resetId: undefined,
    warned: undefined,
    createdAt: tx.now,
    holdCount: undefined,
    chargedAt: undefined,
    keptAt: undefined,
    parked: undefined,
  }
}

/**
 * Returns all levels of a call, or the name of a budget that does not exist. An execution spends the budgets that it was submitted with,
 * also if one has got another parent since. Deleted ones count nothing.
 */
export function levelsOf(tx: Tx, root: string, refs: readonly AccountRef[]): Level[] | string {
  const levels: Level[] = []
  for (const { name, key } of refs) {
    const budget = tx.get('budget', budgetId(root, name))
    if (budget === undefined) return name
    if (budget.deletedAt !== undefined) continue
    const account = accountOf(tx, budget, key)
    levels.push({ budget, account, wasHeld: heldUntilOf(budget, account, tx.now) !== undefined })
  }
  return levels
}

/** Stores an account. If a period has ended since it was stored last, the sums of that period are kept apart. */
export function putAccount(tx: Tx, budget: Budget, account: Account): void {
  const stored = tx.get('account', account.id)
  if (stored !== undefined && stored.period < account.period) keepPeriod(tx, budget, stored, account.since)
  tx.put(account)
}

/** Keeps the sums of a period that has ended, and removes those of one long ago. */
function keepPeriod(tx: Tx, budget: Budget, ended: Account, until: Instant): void {
  const { id, root, name, key, period, since, spent, raised, chargeCount, tasks } = ended
  const hard: Amounts = addAmounts(budget.hard, raised)
  expectAbsent(tx, 'past_period', pastPeriodId(id, period))
  tx.put({
    type: 'past_period',
    id: pastPeriodId(id, period),
    root,
    name,
    key,
    period,
    since,
    until,
    spent,
    hard,
    chargeCount,
    tasks,
  })
  const old = pastPeriodId(id, period - BUDGET_PERIOD_MAX)
  if (period > BUDGET_PERIOD_MAX && tx.has('past_period', old)) tx.remove('past_period', old)
}

/** Removes an account after its past periods. Returns whether it is gone. */
export function removeAccount(tx: Tx, account: Account): boolean {
  const periods = tx.scan({ index: periodsIndex(account.id), limit: BUDGET_SWEEP_COUNT }, 'past_period')
  for (const { id } of periods) tx.remove('past_period', id)
  if (periods.length >= BUDGET_SWEEP_COUNT) return false
  tx.remove('account', account.id)
  return true
}

/** Names the work that has room now: blocked work if it had none before, and delayed executions whose amounts fit. */
export function wakesOf(tx: Tx, { budget, account, wasHeld }: Level): BudgetWake[] {
  const isParkedIn = account.parked !== undefined
  if ((!wasHeld && !isParkedIn) || heldUntilOf(budget, account, tx.now) !== undefined) return []
  const fitting = takeFitting(budget, account, tx.now)
  if (isParkedIn) putAccount(tx, budget, account)
  return wasHeld || fitting.length > 0 ? wakeKey(tx, budget, account.key, fitting) : []
}

/** Names the partitions with work that waits for a key, and takes them from the line. Delayed executions are woken in any case. */
export function wakeKey(tx: Tx, budget: Budget, key: string, delayed: readonly ParkedSpender[]): BudgetWake[] {
  if (delayed.length === 0 && tx.get('gauge', gaugeId(budget.id, key)) === undefined) return []
  const limit = limitOfBudget(budget)
  const gauge = gaugeOf(tx, limit, key)
  const wakes = takeWakes(limit, gauge, tx.now, delayed)
  if (wakes.length > 0) tx.put(gauge)
  const found: BudgetWake[] = []
  for (const wake of wakes) found.push({ name: budget.name, key, ...wake })
  return found
}
