/** Values derived from budgets and their accounts: room, periods and timers. */
import { BUDGET_PLAN_LOW, DURATION_MAX_MS } from '../limits.ts'
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

/** When time alone changes the definition: at its next boundary, or when it asks for more of them. */
export function budgetDueAt({ boundaries, planAt }: Budget): Instant | undefined {
  const next = boundaries[0]
  if (next === undefined || planAt === undefined) return next ?? planAt
  return Math.min(next, planAt)
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
  if (budget.freeze !== undefined) return budget.freeze.at + DURATION_MAX_MS
  // What asks for an approval has to run until it asks.
  if (account === undefined || budget.onBreach === 'warn' || budget.onBreach === 'suspend') return undefined
  if (exhaustedOf(budget, account) === undefined) return undefined
  return nextReset(budget, now) ?? account.since + DURATION_MAX_MS
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

/** Returns a budget as a limit without a rate and a cap. */
export function limitOfBudget({ id, version, createdAt, changedAt, changedBy }: Budget): Limit {
  return {
    type: 'limit_definition',
    id,
    rate: undefined,
    concurrency: undefined,
    version,
    createdAt,
    changedAt,
    changedBy,
    deletedAt: undefined,
    isManual: undefined,
    changeReason: undefined,
  }
}

/** The instant after which further boundaries are computed. */
export function lastBoundary({ boundaries, since, createdAt }: Budget, now: Instant): Instant {
  return boundaries[boundaries.length - 1] ?? since ?? Math.min(createdAt, now)
}
