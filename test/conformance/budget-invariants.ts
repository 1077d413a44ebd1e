/** What must be true of budgets: sums equal the ledger and the reservations, and no level has forgotten what another has counted. */
import { BUDGET_PLAN_MAX } from '../../src/kernel/index.ts'
import type { Account, Amounts, Charge, Reservation } from '../../src/kernel/index.ts'
import type { PartitionDump } from '../../src/stores/store.ts'

export function budgetProblems({ records }: PartitionDump): string[] {
  const budgets = records.filter((record) => record.type === 'budget')
  const charges = records.filter((record) => record.type === 'charge')
  const reservations = records.filter((record) => record.type === 'reservation')
  const accounts = records.filter((record) => record.type === 'account')
  const isDeleted = ({ root, name, createdAt }: Account) => {
    const budget = budgets.find((one) => one.root === root && one.name === name)
    return budget !== undefined && (budget.deletedAt !== undefined || createdAt < budget.createdAt)
  }
  // Nothing counts in the accounts of a deleted budget until they are removed.
  const counted = accounts.filter((account) => !isDeleted(account))
  const problems = counted.flatMap((account) => [...accountProblems(account, charges, reservations)])
  for (const { name, root, boundaries, parent } of budgets) {
    if (boundaries.length > BUDGET_PLAN_MAX) problems.push(`the budget ${name} has too many boundaries`)
    if (boundaries.some((at, i) => at <= (boundaries[i - 1] ?? 0))) problems.push(`${name}: boundaries out of order`)
    if (parent !== undefined && !budgets.some((other) => other.root === root && other.name === parent)) {
      problems.push(`the budget ${name} has no parent`)
    }
  }
  for (const { key, root, at, accounts: parts } of charges) {
    for (const part of parts) {
      const budget = budgets.find((one) => one.root === root && one.name === part.name)
      // Charges of a deleted budget outlive its accounts.
      if (budget?.deletedAt !== undefined || at < (budget?.createdAt ?? 0)) continue
      if (!accounts.some(({ name, key: own }) => name === part.name && own === part.key)) {
        problems.push(`the charge ${key} counts in no account`)
      }
    }
  }
  return problems
}

function* accountProblems(
  account: Account,
  charges: readonly Charge[],
  reservations: readonly Reservation[],
): Generator<string> {
  const { root, name, key, period } = account
  const isOwn = (part: { readonly name: string; readonly key: string }) => part.name === name && part.key === key
  const own = charges.filter((one) => one.root === root && one.at >= account.createdAt && one.accounts.some(isOwn))
  const present = own.filter((charge) => charge.accounts.some((part) => isOwn(part) && part.period === period))
  const held = reservations.filter(
    (one) => one.root === root && one.createdAt >= account.createdAt && one.accounts.some(isOwn),
  )
  const label = `the account ${name} ${key}`
  if (!isSame(account.total, [...own.map(({ amounts }) => amounts), account.removed])) yield `${label}: wrong total`
  if (!isSame(account.spent, [...present.map(({ amounts }) => amounts), account.removedNow])) {
    yield `${label}: what was spent differs from its ledger`
  }
  if (
    !isSame(
      account.reserved,
      held.map(({ amounts }) => amounts),
    )
  )
    yield `${label}: wrong reservations`
  if (account.reservationCount !== held.length) yield `${label}: ${account.reservationCount} reservations are counted`
  const byTask = account.tasks.map(({ spent }) => spent)
  if (!isSame(account.spent, byTask)) yield `${label}: the sums of its tasks differ`
  const dimensions = account.spent.map(({ dimension }) => dimension)
  if (dimensions.some((dimension, i) => dimension <= (dimensions[i - 1] ?? ''))) yield `${label}: wrong order`
}

/** Whether a list of amounts is the sum of others. */
function isSame(sum: Amounts, parts: readonly Amounts[]): boolean {
  const left = new Map(sum.map(({ dimension, value }) => [dimension, value]))
  for (const { dimension, value } of parts.flat()) left.set(dimension, (left.get(dimension) ?? 0) - value)
  return [...left.values()].every((value) => value === 0)
}
