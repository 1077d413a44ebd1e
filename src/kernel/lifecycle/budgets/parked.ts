/** Executions that are delayed because less is left of a budget than they ask for. An account wakes those whose amounts fit again. */
import { BUDGET_PARKED_MAX, RESERVATION_MAX } from '../../limits.ts'
import type { Account, Budget, ParkedSpender } from '../../model/budget-schema.ts'
import type { Instant } from '../../model/records.ts'
import { addAmounts } from '../../rules/budget-amounts.ts'
import { shortageOf } from '../../rules/budget-state.ts'

/** Adds an execution to those that wait, unless there are too many. Returns whether the account has changed. The caller puts it. */
export function parkIn(account: Account, spender: ParkedSpender, now: Instant): boolean {
  const { executionId, epoch } = spender
  const parked = (account.parked ?? []).filter(({ until }) => until > now)
  if (parked.some((one) => one.executionId === executionId && one.epoch === epoch)) return false
  const others = parked.filter((one) => one.executionId !== executionId)
  if (others.length >= BUDGET_PARKED_MAX) return false
  account.parked = others.concat([spender])
  return true
}

/**
 * Takes the executions whose amounts fit together in what is left, in their order, and those that have asked by themselves since. The others
 * stay, so little room wakes few. The caller puts the account if it has changed.
 */
export function takeFitting(budget: Budget, account: Account, now: Instant): readonly ParkedSpender[] {
  const { parked, reservationCount } = account
  if (parked === undefined) return []
  const fitting: ParkedSpender[] = []
  const left: ParkedSpender[] = []
  let { reserved } = account
  for (const spender of parked) {
    if (spender.until <= now) continue
    if (!fits(budget, { ...account, reserved, reservationCount: reservationCount + fitting.length }, spender)) {
      left.push(spender)
      continue
    }
    reserved = addAmounts(reserved, spender.amounts)
    fitting.push(spender)
  }
  account.parked = left.length === 0 ? undefined : left
  return fitting
}

/** A deleted budget keeps no execution waiting, and one that warns or asks since only for lack of a place for its reservation. */
function fits(budget: Budget, account: Account, { amounts }: ParkedSpender): boolean {
  const { deletedAt, onBreach } = budget
  if (deletedAt !== undefined) return true
  if (account.reservationCount >= RESERVATION_MAX) return false
  return onBreach === 'warn' || onBreach === 'suspend' || shortageOf(budget, account, amounts) === undefined
}
