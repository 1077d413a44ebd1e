/** Reserves amounts in all levels of a tree before they are spent, and renews and releases what was reserved. */
import {
  endReservation,
  findShortage,
  fitsSums,
  hold,
  noteRefusal,
  putLevels,
} from '../../lifecycle/budgets/charges.ts'
import type { Overrun, Usage } from '../../lifecycle/budgets/charges.ts'
import { levelsOf, putAccount } from '../../lifecycle/budgets/accounts.ts'
import type { BudgetWake } from '../../lifecycle/budgets/accounts.ts'
import { BUDGET_PAGE_MAX, RESERVATION_RENEW_MAX, RESERVATION_TTL_MAX_MS } from '../../limits.ts'
import { chargeId } from '../../model/budget-ids.ts'
import { reservationsIndex } from '../../model/indexes.ts'
import type { ExecutionId, Instant, Reservation } from '../../model/records.ts'
import { refused } from '../../results.ts'
import type { Refused } from '../../results.ts'
import { equalAmounts } from '../../rules/budget-amounts.ts'
import type { Range, Tx } from '../../tx.ts'

export interface ReserveInput extends Usage {
  /** How long the reservation lasts without a renewal. */
  readonly ttlMs: number
}

export type ReserveResult =
  | { readonly kind: 'budget_reserved' | 'already_reserved'; readonly expiresAt: Instant }
  /** The call was settled before, so that nothing is left to reserve. */
  | { readonly kind: 'already_settled' }
  /** There is no room. Nothing was reserved at any level; the account has counted the key once. */
  | { readonly kind: 'budget_exceeded'; readonly overrun: Overrun }
  | Refused<'budget_not_found' | 'stale_lease' | 'amount_too_large'>

/**
 * Checks all dimensions of all levels before any is changed. Idempotent per key; a later attempt takes over its reservation. A call with
 * other amounts replaces it: an attempt may come to another call under the same number.
 */
export function reserveBudget(tx: Tx, input: ReserveInput): ReserveResult {
  const { root, key, accounts, amounts, spender } = input
  const id = chargeId(root, key)
  if (tx.has('charge', id)) return { kind: 'already_settled' }
  const existing = tx.get('reservation', id)
  const levels = levelsOf(tx, root, accounts)
  if (typeof levels === 'string') return refused('budget_not_found', { name: levels })
  const expiresAt = tx.now + Math.min(input.ttlMs, RESERVATION_TTL_MAX_MS)
  if (existing !== undefined && existing.spender.epoch > spender.epoch) {
    return refused('stale_lease', { epoch: existing.spender.epoch })
  }
  if (existing !== undefined && equalAmounts(existing.amounts, amounts)) {
    existing.spender = spender
    existing.expiresAt = Math.max(existing.expiresAt, expiresAt)
    tx.put(existing)
    return { kind: 'already_reserved', expiresAt: existing.expiresAt }
  }
  if (!fitsSums(levels, amounts)) return refused('amount_too_large', {})
  if (existing !== undefined) {
    endReservation(tx, existing)
    return reserveBudget(tx, input)
  }

  const shortage = findShortage(tx, levels, amounts)
  if (shortage !== undefined) {
    const { level, overrun } = shortage
    if (noteRefusal(tx, level, overrun.dimension, key)) putAccount(tx, level.budget, level.account)
    return { kind: 'budget_exceeded', overrun }
  }
  hold(levels, amounts)
  putLevels(tx, levels)
  tx.put({ type: 'reservation', id, root, key, accounts, amounts, spender, createdAt: tx.now, expiresAt })
  return { kind: 'budget_reserved', expiresAt }
}

interface ReservationKey {
  readonly root: string
  readonly key: string
}

export interface ReleaseInput extends ReservationKey {
  /** The lease of the caller. A reservation that a later lease has taken over stays. */
  readonly epoch?: number | undefined
}

export interface ReleaseResult {
  readonly kind: 'reservation_released' | 'already_released'
  readonly wakes: BudgetWake[]
}

/** Returns reserved amounts unspent. No-op if the reservation was settled, has lapsed, or was taken over. */
export function releaseReservation(tx: Tx, { root, key, epoch }: ReleaseInput): ReleaseResult {
  const reservation = tx.get('reservation', chargeId(root, key))
  const isTakenOver = epoch !== undefined && reservation !== undefined && reservation.spender.epoch > epoch
  if (reservation === undefined || isTakenOver) return { kind: 'already_released', wakes: [] }
  return { kind: 'reservation_released', wakes: endReservation(tx, reservation) }
}

export interface RenewReservationsInput {
  readonly reservations: readonly ReservationKey[]
  readonly ttlMs: number
}

export interface RenewReservationsResult {
  readonly kind: 'reservations_renewed'
  /** In the order of the input: whether each still exists. */
  readonly isHeld: boolean[]
}

/** Renews reservations with the lease that they are bound to. One that has lapsed is not revived. */
export function renewReservations(tx: Tx, input: RenewReservationsInput): RenewReservationsResult {
  const isHeld: boolean[] = []
  for (const { root, key } of input.reservations.slice(0, RESERVATION_RENEW_MAX)) {
    const reservation = tx.get('reservation', chargeId(root, key))
    isHeld.push(reservation !== undefined)
    if (reservation === undefined) continue
    const expiresAt = tx.now + Math.min(input.ttlMs, RESERVATION_TTL_MAX_MS)
    reservation.expiresAt = Math.max(reservation.expiresAt, expiresAt)
    tx.put(reservation)
  }
  return { kind: 'reservations_renewed', isHeld }
}

export interface ReadReservationsInput {
  /** The execution whose handler has reserved. */
  readonly reservedBy: ExecutionId
  /** The reservation after which the page begins. */
  readonly cursor?: string | undefined
}

export interface ReadReservationsResult {
  readonly kind: 'reservations_read'
  readonly reservations: Reservation[]
  readonly cursor: string | undefined
}

export function readReservations(tx: Tx, input: ReadReservationsInput): ReadReservationsResult {
  const range = reservationsRange(input)
  const reservations = tx.scan(range, 'reservation')
  const last = reservations[reservations.length - 1]
  const cursor = reservations.length < range.limit ? undefined : last?.id
  return { kind: 'reservations_read', reservations, cursor }
}

export function reservationsRange({ reservedBy, cursor }: ReadReservationsInput): Range {
  const from = cursor === undefined ? undefined : { score: 0, id: cursor }
  return { index: reservationsIndex(reservedBy), from, limit: BUDGET_PAGE_MAX }
}
