/** Changes budgets live: raises one key, begins it anew, or freezes all keys. */
import { accountOf, putAccount, wakesOf } from '../../lifecycle/budgets/accounts.ts'
import type { BudgetWake, Level } from '../../lifecycle/budgets/accounts.ts'
import { nextWake } from '../../lifecycle/budgets/boundaries.ts'
import { emitBudgetChanged } from '../../lifecycle/budgets/budget-events.ts'
import { APPROVAL_VALID_MS, BUDGET_RAISE_MAX, CHARGE_RETENTION_MS } from '../../limits.ts'
import { budgetId, chargeId, raiseKey } from '../../model/budget-ids.ts'
import type { AccountRef, Amounts } from '../../model/budget-schema.ts'
import type { Instant } from '../../model/records.ts'
import { refused } from '../../results.ts'
import type { Refused } from '../../results.ts'
import { addAmounts, isExact } from '../../rules/budget-amounts.ts'
import { heldUntilOf, nextPeriod } from '../../rules/budget-state.ts'
import type { Tx } from '../../tx.ts'
import type { BudgetName } from './define-budget.ts'

export interface AccountInput extends AccountRef {
  readonly root: string
}

/** Who changes a budget, and why. */
interface Change {
  readonly by?: string | undefined
  readonly reason?: string | undefined
}

export interface RaiseBudgetInput extends AccountInput, Change {
  /** Identifies the raise, the same for every repetition of it. */
  readonly requestId: string
  readonly amounts: Amounts
  /** When the approval was given that the raise follows from. One that is so old that its raise may be forgotten adds nothing. */
  readonly approvedAt?: Instant | undefined
}

/** `wakes` names the partitions whose blocked work has room now. */
export type RaiseBudgetResult =
  | { readonly kind: 'budget_raised' | 'already_raised' | 'approval_outdated'; readonly wakes: BudgetWake[] }
  | Refused<'budget_not_found' | 'amount_too_large'>

/**
 * Adds to the hard limits of one key, until it begins anew. Idempotent per request id for 35 days, and for ever if it follows from an
 * approval: a line of the ledger that counts in no account marks the raise, and an approval becomes void before its mark is removed.
 */
export function raiseBudget(tx: Tx, input: RaiseBudgetInput): RaiseBudgetResult {
  const level = levelOf(tx, input)
  if (level === undefined) return refused('budget_not_found', { name: input.name })
  const { budget, account } = level
  const { root, requestId: id, amounts, by, reason, approvedAt = tx.now } = input
  const mark = raiseKey(input.name, input.key, id)
  if (tx.has('charge', chargeId(root, mark))) return { kind: 'already_raised', wakes: [] }
  if (account.raises.some((raise) => raise.id === id)) return { kind: 'already_raised', wakes: [] }
  if (tx.now - approvedAt > APPROVAL_VALID_MS) return { kind: 'approval_outdated', wakes: [] }
  const raised = addAmounts(account.raised, amounts)
  if (!isExact(addAmounts(budget.hard, raised))) return refused('amount_too_large', {})

  account.raised = raised
  account.raises = account.raises.concat([{ id, at: tx.now, amounts, by }]).slice(-BUDGET_RAISE_MAX)
  putAccount(tx, budget, account)
  markRaised(tx, root, mark, amounts)
  emitBudgetChanged(tx, budget, input.key, { effect: 'raised', by, reason })
  return { kind: 'budget_raised', wakes: wakesOf(tx, level) }
}

function markRaised(tx: Tx, root: string, key: string, amounts: Amounts): void {
  const spender = { executionId: undefined, namespace: '', task: '', epoch: 0, attempt: 0 }
  const expiresAt = tx.now + CHARGE_RETENTION_MS
  const line = { root, key, accounts: [], amounts, spender, at: tx.now, expiresAt, hasPassed: undefined }
  tx.put({ type: 'charge', id: chargeId(root, key), ...line })
}

export interface ResetBudgetInput extends AccountInput, Change {
  /** Identifies the reset, the same for every repetition of it. */
  readonly requestId: string
}

export type ResetBudgetResult =
  { readonly kind: 'budget_reset' | 'already_reset'; readonly wakes: BudgetWake[] } | Refused<'budget_not_found'>

/** Begins one key anew before its time. Idempotent per request id. Its reservations and its total stay, and so do the times of later resets. */
export function resetBudget(tx: Tx, input: ResetBudgetInput): ResetBudgetResult {
  const level = levelOf(tx, input)
  if (level === undefined) return refused('budget_not_found', { name: input.name })
  const { budget } = level
  const { requestId, by, reason } = input
  if (level.account.resetId === requestId) return { kind: 'already_reset', wakes: [] }

  level.account = { ...nextPeriod(level.account, tx.now), resetId: requestId }
  putAccount(tx, budget, level.account)
  emitBudgetChanged(tx, budget, input.key, { effect: 'reset', by, reason })
  return { kind: 'budget_reset', wakes: wakesOf(tx, level) }
}

function levelOf(tx: Tx, { root, name, key }: AccountInput): Level | undefined {
  const budget = tx.get('budget', budgetId(root, name))
  if (budget === undefined || budget.deletedAt !== undefined) return undefined
  const account = accountOf(tx, budget, key)
  return { budget, account, wasHeld: heldUntilOf(budget, account, tx.now) !== undefined }
}

export interface FreezeBudgetInput extends BudgetName, Change {
  readonly isFrozen: boolean
}

export type FreezeBudgetResult =
  { readonly kind: 'budget_frozen' | 'budget_opened' | 'already_frozen' | 'already_open' } | Refused<'budget_not_found'>

/** Freezes a budget: nothing is reserved and no new work starts, until it is opened again. What runs may still report. */
export function freezeBudget(tx: Tx, input: FreezeBudgetInput): FreezeBudgetResult {
  const budget = tx.get('budget', budgetId(input.root, input.name))
  if (budget === undefined || budget.deletedAt !== undefined) return refused('budget_not_found', { name: input.name })
  const { isFrozen, by, reason } = input
  if ((budget.freeze !== undefined) === isFrozen) return { kind: isFrozen ? 'already_frozen' : 'already_open' }

  budget.freeze = isFrozen ? { at: tx.now, by, reason } : undefined
  if (!isFrozen) budget.wakeAt = nextWake(tx, budget)
  tx.put(budget)
  emitBudgetChanged(tx, budget, '', { effect: isFrozen ? 'frozen' : 'opened', by, reason })
  return { kind: isFrozen ? 'budget_frozen' : 'budget_opened' }
}
