/**
 * Spending of executions that a worker runs without a connection to the store. Each call is checked against the lease first. A budget
 * that asks for an approval suspends the execution; the answer raises the budget, and the handler makes the same call again.
 */
import { CANCEL_GRACE_DEFAULT_MS, OPEN_RESERVATIONS, budgetsOf } from '../../kernel/index.ts'
import type { Amounts, Overrun } from '../../kernel/index.ts'
import { BudgetAccount, receiptOf, shortageOf } from '../budgets/budget-account.ts'
import type { Tree, TreeReceipt } from '../budgets/budget-account.ts'
import { budgetQuestion, raisedBy, textOf } from '../budgets/budget-question.ts'
import { checkKey } from '../checks/names.ts'
import { checkSpending } from '../define/budget.ts'
import type { Spending } from '../define/budget.ts'
import type { SpendReceipt } from '../define/context.ts'
import { parseDuration } from '../define/duration.ts'
import type { Duration } from '../define/duration.ts'
import type { BudgetShortage } from '../define/errors.ts'
import type { Session } from '../session.ts'
import { retryWhileUnavailable } from '../transport/retry-unavailable.ts'
import { heldExecution } from './fenced.ts'
import { spendingPrefixOf } from './idempotency-key.ts'
import type { LeaseWaits } from './lease-waits.ts'

const RESERVATION_TTL_DEFAULT = '1m'
/** The longest time after which a handler asks again. */
const RETRY_MAX_MS = 60_000

/** What a handler does instead of continuing: it ends without a report, or reports a permanent failure. */
export type SpendingStopped =
  | { readonly kind: 'suspended' | 'already_suspended' | 'cancelled' | 'already_cancelled' }
  | { readonly kind: 'rejected'; readonly message: string }

export type LeaseSpent = SpendReceipt | SpendingStopped

export type LeaseReserved =
  | { readonly kind: 'reserved' }
  | {
      readonly kind: 'no_room'
      readonly shortage: BudgetShortage
      readonly retryAfterMs: number
      readonly message: string
    }
  | SpendingStopped

/** The questions of one call: later ones have numbers. */
interface Question {
  number: number
  /** What was wrong with the last approval. */
  correction: string
}

export class LeaseBudgets {
  readonly #session: () => Session
  readonly #waits: LeaseWaits

  constructor(session: () => Session, waits: LeaseWaits) {
    this.#session = session
    this.#waits = waits
  }

  /** Records what was spent. A call that is repeated with its key counts once. */
  async spend(id: string, lease: string, key: string, spending: Spending): Promise<LeaseSpent> {
    const account = await this.#accountOf(id, lease)
    const amounts = checkSpending(spending, 'spending')
    const spend = () => account.spend(account.keyOf(checkKey(key, 'key')), amounts)
    const receipts = await spend()
    const stopped = await this.#settleOverruns(id, lease, account, receipts, spend)
    return stopped ?? receiptOf(receipts)
  }

  /** Holds amounts for work that may spend them, until they are settled, released or the time is over. Repeated, it extends the time. */
  async reserve(
    id: string,
    lease: string,
    key: string,
    spending: Spending,
    ttl: Duration = RESERVATION_TTL_DEFAULT,
  ): Promise<LeaseReserved> {
    const account = await this.#accountOf(id, lease)
    const amounts: Amounts = checkSpending(spending, 'spending')
    const ttlMs = parseDuration(ttl, 'ttl', 1)
    const name = account.reservationKeyOf(checkKey(key, 'key'))
    const question: Question = { number: 0, correction: '' }
    for (;;) {
      const refused = await account.reserve(name, amounts, ttlMs)
      if (refused === undefined) return { kind: 'reserved' }
      const { tree, overrun } = refused
      if (overrun.onBreach === 'cancel') return await this.#cancel(id, overrun)
      // An approval cannot open what an operator has frozen, and no raise adds reservations.
      if (overrun.onBreach !== 'suspend' || overrun.isFrozen || overrun.dimension === OPEN_RESERVATIONS) {
        const retryAfterMs = Math.min(overrun.resetsInMs ?? RETRY_MAX_MS, RETRY_MAX_MS)
        return { kind: 'no_room', shortage: shortageOf(overrun), retryAfterMs, message: textOf(overrun) }
      }
      const stopped = await this.#ask(id, lease, account, tree, overrun, question)
      if (stopped !== undefined) return stopped
    }
  }

  /** Replaces a reservation by what was really spent, which may be more. Idempotent. */
  async settle(id: string, lease: string, key: string, spending: Spending): Promise<SpendReceipt> {
    const account = await this.#accountOf(id, lease)
    return receiptOf(
      await account.settle(account.reservationKeyOf(checkKey(key, 'key')), checkSpending(spending, 'spending')),
    )
  }

  /** Gives a reservation back. No-op after a settle. */
  async release(id: string, lease: string, key: string): Promise<void> {
    const account = await this.#accountOf(id, lease)
    await account.release(account.reservationKeyOf(checkKey(key, 'key')))
  }

  /** Real spending counts in any case. What it has passed decides how the handler continues. */
  async #settleOverruns(
    id: string,
    lease: string,
    account: BudgetAccount,
    receipts: readonly TreeReceipt[],
    again: () => Promise<TreeReceipt[]>,
  ): Promise<SpendingStopped | undefined> {
    let last = receipts
    const question: Question = { number: 0, correction: '' }
    for (;;) {
      const found = last.flatMap(({ hard }, i) => {
        const overrun = hard.find(({ onBreach }) => onBreach === 'cancel' || onBreach === 'suspend')
        const tree = account.trees[i]
        return overrun === undefined || tree === undefined ? [] : [{ tree, overrun }]
      })
      const [first] = found
      if (first === undefined) return undefined
      if (first.overrun.onBreach === 'cancel') return await this.#cancel(id, first.overrun)
      const stopped = await this.#ask(id, lease, account, first.tree, first.overrun, question)
      if (stopped !== undefined) return stopped
      last = await again()
    }
  }

  /** Waits for an approval, and raises the budget by what was approved. After one that is not valid the caller asks again. */
  async #ask(
    id: string,
    lease: string,
    account: BudgetAccount,
    tree: Tree,
    overrun: Overrun,
    question: Question,
  ): Promise<SpendingStopped | undefined> {
    question.number += 1
    const name = question.number === 1 ? `budget ${overrun.name}` : `budget ${overrun.name} ${question.number}`
    const waited = await this.#waits.waitFor(id, lease, name, budgetQuestion(overrun, question.correction), {
      isQuestion: true,
    })
    if (waited.kind !== 'answered') return { kind: waited.kind }
    const { answer } = waited.answer
    if (!answer.ok) return { kind: 'rejected', message: `${textOf(overrun)}: ${answer.reason}` }
    const by = answer.votes.map((vote) => vote.by.identity).join(', ')
    const amounts = raisedBy(waited.answer)
    question.correction = typeof amounts === 'string' ? ` The approval by ${by} is not valid: ${amounts}` : ''
    if (typeof amounts !== 'string') await account.raise(tree, overrun, { wait: name, at: answer.at, amounts, by })
    return undefined
  }

  /** Requests the cancel of the execution. */
  async #cancel(id: string, overrun: Overrun): Promise<SpendingStopped> {
    const session = this.#session()
    const executionId = session.resolve(id)
    const reason = textOf(overrun)
    const input = { executionId, reason, by: 'budget', force: false, graceMs: CANCEL_GRACE_DEFAULT_MS }
    await session.run(executionId, 'cancelExecution', input)
    return { kind: 'rejected', message: reason }
  }

  /** Refuses a lease that is not valid. */
  async #accountOf(id: string, lease: string): Promise<BudgetAccount> {
    const session = this.#session()
    const execution = await heldExecution(session, id, lease)
    const { id: executionId, epoch, namespace, task, createdAt, run = 0, journal } = execution
    const attempt = execution.attempt?.number ?? 1
    const answered = <T>(_partition: unknown, call: () => Promise<T>) => retryWhileUnavailable(session.runtime, call)
    const owner = {
      spender: { executionId, namespace, task, epoch, attempt },
      budgets: budgetsOf(execution),
      keyPrefix: spendingPrefixOf({ executionId, createdAt, run }, journal?.era),
      run: answered,
      report: answered,
    }
    return new BudgetAccount(owner, session.batcher)
  }
}
