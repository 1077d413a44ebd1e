/** Values derived from budgets and their accounts: room, periods and timers. */
import { ACCOUNT_IDLE_MS, BUDGET_PLAN_LOW, DURATION_MAX_MS, OWN_ACCOUNT_IDLE_MS } from '../limits.ts'
import { isKeyOfExecution } from '../model/budget-ids.ts'
import type { Account, Amounts, Budget } from '../model/budget-schema.ts'
import type { Instant } from '../model/base-records.ts'
import type { Limit } from '../model/limit-schema.ts'
import { has, valueIn } from './budget-amounts.ts'

/** Returns the last boundary that has passed. */
export function boundaryBefore({ since, boundaries }: Budget, now: Instant): Instant | undefined {
  let last = since
  for (const boundary of boundaries) if (boundary <= now) last = boundary
  return last
}

/** Returns when the budget begins anew next, as far as it is known. */
export function nextReset({ boundaries }: Budget, now: Instant): Instant | undefined {
  for (const boundary of boundaries) if (boundary > now) return boundary
  return undefined
}

/** Whether too few boundaries are stored ahead. */
export function lacksBudgetBoundaries({ period, boundaries }: Budget, now: Instant): boolean {
  if (period === undefined) return false
  let ahead = 0
  for (const boundary of boundaries) if (boundary > now) ahead = ahead + 1
  return ahead <= BUDGET_PLAN_LOW
}

/** When something of a budget is due: its next boundary, a request for more of them, or the wakes of a change. */
export function budgetDueAt({ boundaries, planAt = Infinity, wakeAt = Infinity }: Budget): Instant | undefined {
  const next = Math.min(boundaries[0] ?? Infinity, planAt, wakeAt)
  return next === Infinity ? undefined : next
}

/** A dimension without enough room. */
export interface Shortage {
  readonly dimension: string
  /** Spent in the present period. */
  readonly spent: number
  readonly reserved: number
  /** The hard limit, raises included. */
  readonly hard: number
  readonly asked: number
}

/** Returns the first dimension whose hard limit an amount would pass. Landing exactly on the limit is allowed. */
export function shortageOf(budget: Budget, account: Account, amounts: Amounts): Shortage | undefined {
  for (const { dimension, value: limit } of budget.hard) {
    if (!has(amounts, dimension)) continue
    const asked = valueIn(amounts, dimension)
    const spent = valueIn(account.spent, dimension)
    const reserved = valueIn(account.reserved, dimension)
    const hard = limit + valueIn(account.raised, dimension)
    if (spent + reserved + asked > hard) return { dimension, spent, reserved, hard, asked }
  }
  return undefined
}

/** Returns the first dimension of which nothing is left. */
export function exhaustedOf(budget: Budget, account: Account): Shortage | undefined {
  for (const { dimension, value: limit } of budget.hard) {
    const spent = valueIn(account.spent, dimension)
    const reserved = valueIn(account.reserved, dimension)
    const hard = limit + valueIn(account.raised, dimension)
    if (spent + reserved >= hard) return { dimension, spent, reserved, hard, asked: 0 }
  }
  return undefined
}

/** Returns until when new work of a key is held back; undefined if it may start. A key without an account has spent nothing. */
export function heldUntilOf(budget: Budget, account: Account | undefined, now: Instant): Instant | undefined {
  if (budget.deletedAt !== undefined) return undefined
  if (budget.freeze !== undefined) return budget.freeze.at + DURATION_MAX_MS
  // What asks for an approval has to run until it asks.
  if (account === undefined || budget.onBreach === 'warn' || budget.onBreach === 'suspend') return undefined
  if (isOfEarlierBudget(budget, account)) return undefined
  if (exhaustedOf(budget, account) === undefined) return undefined
  return nextReset(budget, now) ?? account.since + DURATION_MAX_MS
}

/** Whether an account is of a budget that was deleted before its name was defined again. It counts and bounds nothing any more. */
export function isOfEarlierBudget(budget: Budget, account: Account): boolean {
  return account.createdAt < budget.createdAt
}

/** Returns the account as it is in the present period. The sums of a period that has ended count no more. */
export function presentAccount(budget: Budget, account: Account, now: Instant): Account {
  const since = boundaryBefore(budget, now)
  return since === undefined || since <= account.since ? account : nextPeriod(account, since)
}

/** Returns the account at the beginning of its next period. Reservations stay. */
export function nextPeriod(account: Account, since: Instant): Account {
  return {
    ...account,
    period: account.period + 1,
    since,
    spent: [],
    raised: [],
    chargeCount: 0,
    tasks: [],
    removedNow: [],
    warned: undefined,
  }
}

/**
 * Whether an account may be removed whose ledger is empty: nothing of it applies any more, and it was not used for long. What was spent of
 * a budget that never begins anew applies for ever. The account of an execution applies until nothing spends it any more, which only the
 * partition of its executions knows.
 */
export function isIdleAccount(budget: Budget, account: Account, now: Instant): boolean {
  const { raises, since, createdAt, resetId, breachedAt = 0, chargedAt = 0, keptAt = 0, reservationCount } = account
  const raisedAt = raises[raises.length - 1]?.at ?? 0
  // A repeated reset or raise must find its id.
  const resetAt = resetId === undefined ? 0 : since
  const usedAt = Math.max(resetAt, createdAt, breachedAt, chargedAt, keptAt, raisedAt)
  if (reservationCount > 0) return false
  if (isOfExecution(budget, account)) return now - usedAt >= OWN_ACCOUNT_IDLE_MS
  const present = presentAccount(budget, account, now)
  return present.spent.length === 0 && present.raised.length === 0 && now - usedAt >= ACCOUNT_IDLE_MS
}

/** Whether an account is that of one execution. */
export function isOfExecution({ isPerExecution }: Budget, { key }: Account): boolean {
  return isPerExecution === true && isKeyOfExecution(key)
}

/** Returns a budget as a limit without a rate and a cap. */
export function limitOfBudget({ id, version, createdAt, changedAt, changedBy, deletedAt }: Budget): Limit {
  return {
    type: 'limit_definition',
    id,
    rate: undefined,
    concurrency: undefined,
    version,
    createdAt,
    changedAt,
    changedBy,
    deletedAt,
    isManual: undefined,
    changeReason: undefined,
  }
}

/** The instant after which further boundaries are computed. */
export function lastBoundary({ boundaries, since, createdAt }: Budget, now: Instant): Instant {
  return boundaries[boundaries.length - 1] ?? since ?? Math.min(createdAt, now)
}
