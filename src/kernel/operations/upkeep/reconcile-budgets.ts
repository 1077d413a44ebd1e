/**
 * Checks the accounts of budgets against their ledgers and reservations, page by page, and corrects sums that differ in the step
 * that has compared them. An account that changes while a long ledger is added up is checked by the next walk. A correction means
 * a fault elsewhere, and is reported. Accounts that are idle, or whose budget was deleted, are removed; idle ones of executions are
 * reported, because only the partitions of executions know which are spent still.
 */
import { BUDGET_RECONCILE_COUNT } from '../../limits.ts'
import { removeAccount } from '../../lifecycle/budgets/accounts.ts'
import { budgetId } from '../../model/budget-ids.ts'
import type { Amounts } from '../../model/budget-schema.ts'
import { ACCOUNTS_INDEX, ledgerIndex, reservedIndex } from '../../model/indexes.ts'
import type { Position } from '../../model/order.ts'
import type { Account } from '../../model/records.ts'
import { addAmounts, equalAmounts } from '../../rules/budget-amounts.ts'
import { isIdleAccount, isOfEarlierBudget, isOfExecution } from '../../rules/budget-state.ts'
import type { Tx } from '../../tx.ts'

/** What one walk over a ledger or the reservations of an account has added up. */
interface Sums {
  readonly total: Amounts
  /** The part of the present period. */
  readonly present: Amounts
  readonly reserved: Amounts
  readonly reservationCount: number
}

/** The progress of a walk over the partition: account by account, first its ledger, then its reservations. */
export interface BudgetCursor {
  /** The account after which to continue. */
  readonly after?: string | undefined
  /** An account of which a part was added up. */
  readonly open?: OpenAccount | undefined
}

interface OpenAccount {
  readonly id: string
  readonly stage: 'ledger' | 'reservations'
  readonly position: Position | undefined
  readonly sums: Sums
  /** Distinguishes states of the account: the sums are void if it changes meanwhile. */
  readonly state: string
}

export interface ReconcileBudgetsInput {
  readonly cursor?: BudgetCursor | undefined
  /** Records that cannot be read: the account that they belong to stays as it is. */
  readonly skip?: readonly string[] | undefined
}

export interface BudgetProblem {
  /** `wrong_spent`: the sums were not those of the ledger. `wrong_reserved`: they were not those of the reservations. */
  readonly problem: 'wrong_spent' | 'wrong_reserved'
  readonly root: string
  readonly name: string
  readonly key: string
}

export interface ReconcileBudgetsResult {
  readonly kind: 'budgets_reconciled'
  readonly examined: number
  readonly repaired: BudgetProblem[]
  /** Accounts of executions that were not used for long: to be retired if no execution spends them. */
  readonly idle: AccountName[]
  /** Where to continue; undefined once the whole partition is done. */
  readonly cursor: BudgetCursor | undefined
}

/** An account of an execution. */
export interface AccountName {
  readonly id: string
  /** The execution, and the number of its run if it is a later one. */
  readonly key: string
}

const NOTHING: Sums = { total: [], present: [], reserved: [], reservationCount: 0 }

export function reconcileBudgets(tx: Tx, input: ReconcileBudgetsInput): ReconcileBudgetsResult {
  const repaired: BudgetProblem[] = []
  const { after, open } = input.cursor ?? {}
  const account = open === undefined ? nextAccount(tx, after) : tx.get('account', open.id)
  if (account === undefined) {
    const cursor = open === undefined ? undefined : { after: open.id }
    return { kind: 'budgets_reconciled', examined: 0, repaired, idle: [], cursor }
  }
  const none: AccountName[] = []
  const done = { kind: 'budgets_reconciled', repaired, idle: none, cursor: { after: account.id } } as const
  if (input.skip?.includes(account.id) === true) return { ...done, examined: 1 }
  const state = stateOf(account)
  // It has changed, so what was added up is void.
  if (open !== undefined && open.state !== state) return { ...done, examined: 1 }
  const walked = walk(
    tx,
    account,
    open ?? { id: account.id, stage: 'ledger', position: undefined, sums: NOTHING, state },
  )
  if (walked.next !== undefined) return { ...done, examined: walked.examined, cursor: { after, open: walked.next } }
  const use = useOf(tx, account, walked)
  if (use === 'unused') {
    const isGone = removeAccount(tx, account)
    return { ...done, examined: walked.examined, cursor: isGone ? done.cursor : { after } }
  }
  correct(tx, account, walked.sums, repaired)
  const idle = use === 'idle' ? [{ id: account.id, key: account.key }] : []
  return { ...done, examined: walked.examined, idle }
}

/** `unused`: nothing refers to it and it has no effect, or its budget was deleted. `idle`: only executions may refer to it. */
function useOf(tx: Tx, account: Account, { isEmpty }: Walked): 'used' | 'unused' | 'idle' {
  const budget = tx.get('budget', budgetId(account.root, account.name))
  if (budget === undefined) return 'used'
  if (budget.deletedAt !== undefined || isOfEarlierBudget(budget, account)) return 'unused'
  if (!isEmpty || !isIdleAccount(budget, account, tx.now)) return 'used'
  return isOfExecution(budget, account) ? 'idle' : 'unused'
}

function nextAccount(tx: Tx, after: string | undefined): Account | undefined {
  const from = after === undefined ? undefined : { score: 0, id: after }
  return tx.scan({ index: ACCOUNTS_INDEX, from, limit: 1 }, 'account')[0]
}

function stateOf({ totalCount, period, reservationCount, holdCount = 0, reserved, removed }: Account): string {
  const amounts = reserved.concat(removed).map(({ dimension, value }) => `${dimension}=${value}`)
  return [totalCount, period, reservationCount, holdCount, ...amounts].join(' ')
}

interface Walked {
  readonly examined: number
  readonly sums: Sums
  /** Whether the ledger has no line, and nothing is reserved. */
  readonly isEmpty: boolean
  /** Where to continue; undefined once all was added up. */
  readonly next: OpenAccount | undefined
}

/** Adds up one page, and the reservations too if the ledger ends on it. */
function walk(tx: Tx, account: Account, open: OpenAccount): Walked {
  let { sums, position } = open
  let examined = 0
  if (open.stage === 'ledger') {
    const charges = tx.scan({ index: ledgerIndex(account.id), from: position, limit: BUDGET_RECONCILE_COUNT }, 'charge')
    for (const charge of charges) {
      position = { score: charge.at, id: charge.id }
      // It has counted in an account that was removed.
      if (charge.at < account.createdAt) continue
      const part = charge.accounts.find(({ name, key }) => name === account.name && key === account.key)
      const total = addAmounts(sums.total, charge.amounts)
      const present = part?.period === account.period ? addAmounts(sums.present, charge.amounts) : sums.present
      sums = { ...sums, total, present }
    }
    examined = charges.length
    if (examined >= BUDGET_RECONCILE_COUNT) return { examined, sums, isEmpty: false, next: { ...open, position, sums } }
    position = undefined
  }
  const range = { index: reservedIndex(account.id), from: position, limit: BUDGET_RECONCILE_COUNT }
  const reservations = tx.scan(range, 'reservation')
  for (const { id, amounts, createdAt } of reservations) {
    position = { score: 0, id }
    if (createdAt < account.createdAt) continue
    sums = { ...sums, reserved: addAmounts(sums.reserved, amounts), reservationCount: sums.reservationCount + 1 }
  }
  examined = examined + reservations.length
  const isWhole = reservations.length < BUDGET_RECONCILE_COUNT
  return {
    examined: examined + 1,
    sums,
    isEmpty: open.position === undefined && open.stage === 'ledger' && examined === 0,
    next: isWhole ? undefined : { ...open, stage: 'reservations', position, sums },
  }
}

function correct(tx: Tx, account: Account, sums: Sums, repaired: BudgetProblem[]): void {
  const { root, name, key } = account
  const total = addAmounts(account.removed, sums.total)
  const spent = addAmounts(account.removedNow, sums.present)
  const isSpentWrong = !equalAmounts(total, account.total) || !equalAmounts(spent, account.spent)
  const isReservedWrong =
    !equalAmounts(sums.reserved, account.reserved) || sums.reservationCount !== account.reservationCount
  if (!isSpentWrong && !isReservedWrong) return
  account.total = total
  account.spent = spent
  account.reserved = sums.reserved
  account.reservationCount = sums.reservationCount
  tx.put(account)
  if (isSpentWrong) repaired.push({ problem: 'wrong_spent', root, name, key })
  if (isReservedWrong) repaired.push({ problem: 'wrong_reserved', root, name, key })
}
