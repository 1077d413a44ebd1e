/**
 * Checks the usage of limits: counts the permits of every key again, in the step that corrects the sum, releases permits that
 * the due pass has missed, and empties windows in which nothing counts. Removes what is left of deleted limits. A correction
 * means a fault elsewhere, and is reported.
 */
import { dropHolding, limitNamed } from '../../lifecycle/limits/gauges.ts'
import { DELETED_LIMIT_MS, HOLDER_MAX, LIMIT_OVERDUE_MS, LIMIT_RECONCILE_COUNT, PERMIT_DUE_WORK } from '../../limits.ts'
import { isBudgetId } from '../../model/budget-ids.ts'
import { GAUGES_INDEX, LIMITS_INDEX, holdersIndex, keysIndex } from '../../model/indexes.ts'
import type { Gauge, Holding, Limit } from '../../model/limit-schema.ts'
import { idsOf } from '../../model/order.ts'
import type { IndexEntry } from '../../model/order.ts'
import { trimWindow } from '../../rules/sliding-window.ts'
import type { Tx } from '../../tx.ts'

/** The progress of a walk over the partition: first all keys, then all limits. */
export interface LimitCursor {
  readonly stage: 'keys' | 'limits'
  /** The record after which to continue. */
  readonly after?: string | undefined
}

export interface ReconcileLimitsInput {
  readonly cursor?: LimitCursor | undefined
  /** Records that cannot be read: the key that they belong to stays as it is. */
  readonly skip?: readonly string[] | undefined
}

export interface LimitProblem {
  /**
   * `wrong_count`: the sum was not that of the holdings. `lapsed_holding`: permits were held that no process had renewed.
   * `stale_window`: nothing in the window counted. `deleted_limit`: the limit does not exist, so its key was removed.
   */
  readonly problem: 'wrong_count' | 'lapsed_holding' | 'stale_window' | 'deleted_limit'
  readonly limit: string
  readonly key: string
}

export interface ReconcileLimitsResult {
  readonly kind: 'limits_reconciled'
  readonly examined: number
  readonly repaired: LimitProblem[]
  /** Where to continue; undefined once the whole partition is done. */
  readonly cursor: LimitCursor | undefined
}

export function reconcileLimits(tx: Tx, input: ReconcileLimitsInput): ReconcileLimitsResult {
  const { stage, after } = input.cursor ?? { stage: 'keys', after: undefined }
  const index = stage === 'keys' ? GAUGES_INDEX : LIMITS_INDEX
  const from = after === undefined ? undefined : { score: 0, id: after }
  const entries = tx.range({ index, from, limit: LIMIT_RECONCILE_COUNT })
  const repaired: LimitProblem[] = []
  const last = stage === 'keys' ? walkKeys(tx, input, entries, repaired) : walkLimits(tx, input, entries)
  const isWhole = entries.length < LIMIT_RECONCILE_COUNT && last === entries[entries.length - 1]?.id
  const next: LimitCursor | undefined = stage === 'keys' ? { stage: 'limits' } : undefined
  const cursor = isWhole ? next : { stage, after: last ?? after }
  return { kind: 'limits_reconciled', examined: entries.length, repaired, cursor }
}

/** Returns the last key that was checked: one without enough room is left to the next call. */
function walkKeys(
  tx: Tx,
  input: ReconcileLimitsInput,
  entries: readonly IndexEntry[],
  repaired: LimitProblem[],
): string | undefined {
  let last: string | undefined = undefined
  for (const { id } of entries) {
    const gauge = input.skip?.includes(id) === true ? undefined : tx.get('gauge', id)
    if (gauge !== undefined && !reconcileKey(tx, gauge, input, repaired)) return last
    last = id
  }
  return last
}

/** Returns false if there was no room to do all that the key needs. */
function reconcileKey(tx: Tx, gauge: Gauge, { skip }: ReconcileLimitsInput, repaired: LimitProblem[]): boolean {
  if (tx.room() < PERMIT_DUE_WORK) return false
  const holders = tx.range({ index: holdersIndex(gauge.id), limit: HOLDER_MAX })
  for (const holder of holders) if (skip?.includes(holder.id) === true) return true
  const limit = limitNamed(tx, gauge.limit)
  const holdings = tx.getMany('holding', idsOf(holders))
  if (limit === undefined || limit.deletedAt !== undefined) {
    // Work that waits for a deleted budget is woken first.
    return isWaking(tx, gauge) || removeKey(tx, gauge, holdings, repaired)
  }

  const found = { limit: gauge.limit, key: gauge.key }
  let hasChanged = correctCounts(gauge, holdings)
  if (hasChanged) repaired.push({ problem: 'wrong_count', ...found })
  for (const holding of holdings) {
    if (holding.expiresAt + LIMIT_OVERDUE_MS > tx.now || tx.room() < PERMIT_DUE_WORK) continue
    dropHolding(tx, gauge, holding)
    hasChanged = true
    repaired.push({ problem: 'lapsed_holding', ...found })
  }
  if (emptyStaleWindow(gauge, limit, tx.now)) {
    hasChanged = true
    repaired.push({ problem: 'stale_window', ...found })
  }
  if (hasChanged) tx.put(gauge)
  return true
}

function isWaking(tx: Tx, { limit, waiting, wakeAt }: Gauge): boolean {
  if (wakeAt !== undefined) return true
  return waiting !== undefined && isBudgetId(limit) && tx.get('budget', limit)?.wakeAt !== undefined
}

function correctCounts(gauge: Gauge, holdings: readonly Holding[]): boolean {
  let heldCount = 0
  for (const holding of holdings) heldCount = heldCount + holding.count
  if (gauge.heldCount === heldCount && gauge.holderCount === holdings.length) return false
  gauge.heldCount = heldCount
  gauge.holderCount = holdings.length
  return true
}

function emptyStaleWindow(gauge: Gauge, { rate }: Limit, now: number): boolean {
  const windowMs = (rate?.windowMs ?? 0) + LIMIT_OVERDUE_MS
  if (gauge.window.length === 0 || trimWindow(gauge.window, windowMs, now).length > 0) return false
  gauge.window = []
  return true
}

/** Removes a key of a deleted limit, over several calls if many processes hold permits of it. */
function removeKey(tx: Tx, gauge: Gauge, holdings: readonly Holding[], repaired: LimitProblem[]): boolean {
  for (const holding of holdings) {
    if (tx.room() < PERMIT_DUE_WORK) {
      tx.put(gauge)
      return false
    }
    dropHolding(tx, gauge, holding)
  }
  tx.remove('gauge', gauge.id)
  repaired.push({ problem: 'deleted_limit', limit: gauge.limit, key: gauge.key })
  return true
}

/** Removes the names of limits that were deleted long ago. */
function walkLimits(tx: Tx, input: ReconcileLimitsInput, entries: readonly IndexEntry[]): string | undefined {
  let last: string | undefined = undefined
  for (const { id } of entries) {
    const limit = input.skip?.includes(id) === true ? undefined : tx.get('limit_definition', id)
    const deletedAt = limit?.deletedAt
    const isOld = deletedAt !== undefined && deletedAt + DELETED_LIMIT_MS <= tx.now
    if (isOld && tx.countUpTo({ index: keysIndex(id), limit: 1 }) === 0) tx.remove('limit_definition', id)
    last = id
  }
  return last
}
