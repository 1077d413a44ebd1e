/**
 * Changes what the accounts of a tree have spent and reserved: the accounts of all levels, the ledger and the reservations are
 * always written together.
 */
import { BUDGET_TASK_MAX, CHARGE_RETENTION_MS, RESERVATION_MAX } from '../../limits.ts'
import type {
  AccountPart,
  AccountRef,
  Amounts,
  BreachPolicy,
  Charge,
  Spender,
  TaskSum,
} from '../../model/budget-schema.ts'
import { budgetId, chargeId } from '../../model/budget-ids.ts'
import type { Instant, Reservation } from '../../model/records.ts'
import { addAmounts, isExact, subtractAmounts, valueIn } from '../../rules/budget-amounts.ts'
import { nextReset, shortageOf } from '../../rules/budget-state.ts'
import type { Shortage } from '../../rules/budget-state.ts'
import type { Tx } from '../../tx.ts'
import { accountOf, putAccount, wakesOf } from './accounts.ts'
import type { BudgetWake, Level } from './accounts.ts'
import { emitOverrun } from './budget-events.ts'

/** A report of what was spent. */
export interface Usage {
  readonly root: string
  /** Identifies the call in its tree. */
  readonly key: string
  /** One account of each level. */
  readonly accounts: readonly AccountRef[]
  readonly amounts: Amounts
  readonly spender: Spender
}

/** A limit that an account has passed or would pass. */
export interface Overrun extends Shortage {
  readonly name: string
  readonly key: string
  readonly onBreach: BreachPolicy
  /** Until the budget begins anew; absent if it never does. */
  readonly resetsInMs: number | undefined
  /** Nothing is reserved because an operator has frozen the budget. */
  readonly isFrozen: boolean
}

/** The limits that were passed. */
export interface Overruns {
  readonly hard: Overrun[]
  readonly soft: Overrun[]
}

/** Adds a line to the ledger and to all its accounts. Spending is never refused. The caller puts the accounts. */
export function recordCharge(tx: Tx, levels: readonly Level[], usage: Usage): Overruns {
  const overruns: Overruns = { hard: [], soft: [] }
  const parts: AccountPart[] = []
  for (const level of levels) {
    const { account } = level
    parts.push({ name: account.name, key: account.key, period: account.period })
    const before = account.spent
    account.spent = addAmounts(before, usage.amounts)
    account.total = addAmounts(account.total, usage.amounts)
    account.chargeCount = account.chargeCount + 1
    account.totalCount = account.totalCount + 1
    account.tasks = addToTasks(account.tasks, usage)
    account.chargedAt = tx.now
    noteOverruns(tx, level, before, usage.amounts, overruns)
  }
  const { root, key, amounts, spender } = usage
  const expiresAt = tx.now + CHARGE_RETENTION_MS
  const charge: Charge = {
    type: 'charge',
    id: chargeId(root, key),
    root,
    key,
    accounts: parts,
    amounts,
    spender,
    at: tx.now,
    expiresAt,
    hasPassed: overruns.hard.length > 0 ? true : undefined,
  }
  tx.put(charge)
  return overruns
}

/** Returns the hard limits that a charge has passed, as far as they still are. Its report may be repeated before anyone reacts to them. */
export function stillPassed(tx: Tx, charge: Charge): Overrun[] {
  const found: Overrun[] = []
  if (charge.hasPassed !== true) return found
  for (const level of storedLevels(tx, charge, charge.at))
    for (const one of passedOf(tx, level, charge.amounts)) found.push(one)
  return found
}

/** Whether all sums stay exact. */
export function fitsSums(levels: readonly Level[], amounts: Amounts): boolean {
  for (const { account } of levels) {
    if (!isExact(addAmounts(account.total, amounts)) || !isExact(addAmounts(account.reserved, amounts))) return false
  }
  return true
}

function noteOverruns(tx: Tx, { budget, account }: Level, before: Amounts, added: Amounts, found: Overruns): void {
  for (const { dimension, value } of budget.soft) {
    const spent = valueIn(account.spent, dimension)
    if (spent <= value || valueIn(added, dimension) === 0) continue
    const shortage = { dimension, spent, reserved: valueIn(account.reserved, dimension), hard: value, asked: 0 }
    found.soft.push(overrunOf(tx, { budget, account }, shortage))
    if (account.warned?.includes(dimension) === true) continue
    account.warned = (account.warned ?? []).concat([dimension])
    emitOverrun(tx, 'budget_warned', budget, account, dimension)
  }
  for (const overrun of passedOf(tx, { budget, account }, added)) {
    found.hard.push(overrun)
    // One event for each time that it is passed.
    if (valueIn(before, overrun.dimension) <= overrun.hard) noteBreach(tx, { budget, account }, overrun.dimension)
  }
}

/** Returns the hard limits that are passed in the dimensions of a report. */
function passedOf(tx: Tx, { budget, account }: Omit<Level, 'wasHeld'>, added: Amounts): Overrun[] {
  const found: Overrun[] = []
  for (const { dimension, value } of budget.hard) {
    const spent = valueIn(account.spent, dimension)
    const hard = value + valueIn(account.raised, dimension)
    if (spent <= hard || valueIn(added, dimension) === 0) continue
    const shortage = { dimension, spent, reserved: valueIn(account.reserved, dimension), hard, asked: 0 }
    found.push(overrunOf(tx, { budget, account }, shortage))
  }
  return found
}

/** Counts that a call has found no room, once if it is repeated. Returns whether the account has changed. */
export function noteRefusal(tx: Tx, level: Level, dimension: string, key: string): boolean {
  if (level.account.refusedKey === key) return false
  level.account.refusedKey = key
  noteBreach(tx, level, dimension)
  return true
}

function noteBreach(tx: Tx, { budget, account }: Omit<Level, 'wasHeld'>, dimension: string): void {
  account.breachCount = account.breachCount + 1
  account.breachedAt = tx.now
  account.breachedDimension = dimension
  emitOverrun(tx, 'budget_breached', budget, account, dimension)
}

function overrunOf(tx: Tx, { budget, account }: Omit<Level, 'wasHeld'>, shortage: Shortage): Overrun {
  const resetAt = nextReset(budget, tx.now)
  return {
    ...shortage,
    name: budget.name,
    key: account.key,
    onBreach: budget.onBreach,
    resetsInMs: resetAt === undefined ? undefined : resetAt - tx.now,
    isFrozen: budget.freeze !== undefined,
  }
}

function addToTasks(tasks: readonly TaskSum[], { spender: { namespace, task }, amounts }: Usage): readonly TaskSum[] {
  const at = placeOf(tasks, namespace, task)
  const isOther = at === undefined && tasks.length >= BUDGET_TASK_MAX
  const place = isOther ? placeOf(tasks, '', '') : at
  const found = place === undefined ? undefined : tasks[place]
  const sum: TaskSum = {
    namespace: isOther ? '' : namespace,
    task: isOther ? '' : task,
    count: (found?.count ?? 0) + 1,
    spent: addAmounts(found?.spent ?? [], amounts),
  }
  if (place === undefined) return tasks.concat([sum])
  return tasks.map((other, i) => (i === place ? sum : other))
}

function placeOf(tasks: readonly TaskSum[], namespace: string, task: string): number | undefined {
  for (let i = 0; i < tasks.length; i++) {
    const sum = tasks[i]
    if (sum?.namespace === namespace && sum.task === task) return i
  }
  return undefined
}

/** Stands for the dimension if an account has too many reservations. No dimension has this name, because it contains a space. */
export const OPEN_RESERVATIONS = 'open reservations'

/** Returns the first account without room for an amount. A budget that only warns has always room, unless it is frozen. */
export function findShortage(
  tx: Tx,
  levels: readonly Level[],
  amounts: Amounts,
): { level: Level; overrun: Overrun } | undefined {
  for (const level of levels) {
    const { budget, account } = level
    const shortage = shortageOf(budget, account, amounts)
    if (budget.freeze !== undefined) {
      const frozen = shortage ?? { dimension: '', spent: 0, reserved: 0, hard: 0, asked: 0 }
      return { level, overrun: overrunOf(tx, level, frozen) }
    }
    if (account.reservationCount >= RESERVATION_MAX) {
      const full = {
        dimension: OPEN_RESERVATIONS,
        spent: 0,
        reserved: account.reservationCount,
        hard: RESERVATION_MAX,
        asked: 1,
      }
      return { level, overrun: overrunOf(tx, level, full) }
    }
    if (shortage !== undefined && budget.onBreach !== 'warn') return { level, overrun: overrunOf(tx, level, shortage) }
  }
  return undefined
}

/** Adds a reservation to its accounts, or takes it from them. The caller puts the accounts. */
export function hold(levels: readonly Level[], amounts: Amounts): void {
  for (const { account } of levels) {
    account.reserved = addAmounts(account.reserved, amounts)
    account.reservationCount = account.reservationCount + 1
    account.holdCount = (account.holdCount ?? 0) + 1
  }
}

export function unhold(levels: readonly Level[], amounts: Amounts): void {
  for (const { account } of levels) {
    account.reserved = subtractAmounts(account.reserved, amounts)
    account.reservationCount = Math.max(0, account.reservationCount - 1)
  }
}

/** Returns the levels whose accounts count what was stored at some time: an account that has taken the place of another one does not. */
export function countingSince(levels: readonly Level[], at: Instant): Level[] {
  return levels.filter(({ account }) => account.createdAt <= at)
}

/** Stores the accounts of all levels, and names the work that has room now. */
export function putLevels(tx: Tx, levels: readonly Level[]): BudgetWake[] {
  for (const { budget, account } of levels) putAccount(tx, budget, account)
  const wakes: BudgetWake[] = []
  for (const level of levels) for (const wake of wakesOf(tx, level)) wakes.push(wake)
  return wakes
}

/** Returns the levels of a reservation or a charge that was stored at some time, as far as their accounts count it still. */
function storedLevels(
  tx: Tx,
  { id, root, accounts }: Pick<Reservation, 'id' | 'root' | 'accounts'>,
  at: Instant,
): Level[] {
  const levels: Level[] = []
  for (const { name, key } of accounts) {
    const budget = tx.get('budget', budgetId(root, name))
    if (budget === undefined) return tx.fault('an amount counts in a budget that does not exist', id)
    if (budget.deletedAt !== undefined) continue
    levels.push({ budget, account: accountOf(tx, budget, key), wasHeld: true })
  }
  return countingSince(levels, at)
}

/** Ends a reservation: its amounts are free again. */
export function endReservation(tx: Tx, reservation: Reservation): BudgetWake[] {
  const levels = storedLevels(tx, reservation, reservation.createdAt)
  unhold(levels, reservation.amounts)
  tx.remove('reservation', reservation.id)
  return putLevels(tx, levels)
}

/** Removes a line of the ledger. The accounts remember how much of their sums is not in the ledger any more. */
export function removeCharge(tx: Tx, charge: Charge): void {
  const levels = storedLevels(tx, charge, charge.at)
  for (const { account } of levels) {
    const part = charge.accounts.find(({ name, key }) => name === account.name && key === account.key)
    account.removed = addAmounts(account.removed, charge.amounts)
    if (part?.period === account.period) account.removedNow = addAmounts(account.removedNow, charge.amounts)
  }
  tx.remove('charge', charge.id)
  for (const { budget, account } of levels) putAccount(tx, budget, account)
}
