/** Records what was spent. Spending is never refused for lack of room, because it has happened: only new work is. */
import {
  countingSince,
  fitsSums,
  putLevels,
  recordCharge,
  stillPassed,
  unhold,
} from '../../lifecycle/budgets/charges.ts'
import type { Overrun, Overruns, Usage } from '../../lifecycle/budgets/charges.ts'
import { levelsOf } from '../../lifecycle/budgets/accounts.ts'
import type { BudgetWake } from '../../lifecycle/budgets/accounts.ts'
import { chargeId } from '../../model/budget-ids.ts'
import type { Instant, Reservation } from '../../model/records.ts'
import { refused } from '../../results.ts'
import type { Refused } from '../../results.ts'
import type { Tx } from '../../tx.ts'

export type SpendInput = Usage

/** A charge that counts, and the limits that it has passed. */
interface Counted extends Overruns {
  /** Partitions whose blocked work has room now. */
  readonly wakes: BudgetWake[]
}

type SpendRefusal = Refused<'budget_not_found' | 'amount_too_large'>

export type SpendResult =
  | ({ readonly kind: 'spent' } & Counted)
  /** The key was used before, so nothing was counted again. `hard`: what it has passed then, and is passed now. */
  | { readonly kind: 'already_spent'; readonly at: Instant; readonly hard: Overrun[] }
  | SpendRefusal

/** Counts in the accounts of all levels. Idempotent per key. */
export function spendBudget(tx: Tx, input: SpendInput): SpendResult {
  const counted = count(tx, input, undefined)
  return counted.kind === 'counted' ? { ...counted, kind: 'spent' } : counted
}

/** The accounts are needed in case the reservation has lapsed. */
export type SettleInput = Usage

export type SettleResult =
  | ({ readonly kind: 'reservation_settled'; readonly hasLapsed: boolean } & Counted)
  | { readonly kind: 'already_settled'; readonly at: Instant }
  | SpendRefusal

/** Replaces a reservation by what was really spent, which may be more. It counts also if the reservation has lapsed. Idempotent. */
export function settleReservation(tx: Tx, input: SettleInput): SettleResult {
  const reservation = tx.get('reservation', chargeId(input.root, input.key))
  const counted = count(tx, input, reservation)
  if (counted.kind === 'counted')
    return { ...counted, kind: 'reservation_settled', hasLapsed: reservation === undefined }
  return counted.kind === 'already_spent' ? { kind: 'already_settled', at: counted.at } : counted
}

type Count = ({ readonly kind: 'counted' } & Counted) | Extract<SpendResult, { kind: 'already_spent' }> | SpendRefusal

function count(tx: Tx, usage: Usage, reservation: Reservation | undefined): Count {
  const existing = tx.get('charge', chargeId(usage.root, usage.key))
  if (existing !== undefined) return { kind: 'already_spent', at: existing.at, hard: stillPassed(tx, existing) }
  const accounts = reservation?.accounts ?? usage.accounts
  const levels = levelsOf(tx, usage.root, accounts)
  if (typeof levels === 'string') return refused('budget_not_found', { name: levels })
  if (!fitsSums(levels, usage.amounts)) return refused('amount_too_large', {})

  if (reservation !== undefined) {
    unhold(countingSince(levels, reservation.createdAt), reservation.amounts)
    tx.remove('reservation', reservation.id)
  }
  const overruns = recordCharge(tx, levels, usage)
  const wakes = putLevels(tx, levels)
  return { kind: 'counted', ...overruns, wakes }
}
