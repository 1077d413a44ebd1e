/** Changes the usage of a limit: the gauge of a key and the holdings of worker processes are always written together. */
import { HOLDING_REQUEST_MAX } from '../../limits.ts'
import { accountIdOf, isBudgetId } from '../../model/budget-ids.ts'
import { gaugeId, holdingId } from '../../model/indexes.ts'
import type { Gauge, Holding, Limit, Runner } from '../../model/limit-schema.ts'
import type { Instant } from '../../model/records.ts'
import { heldUntilOf, limitOfBudget, presentAccount } from '../../rules/budget-state.ts'
import { trimWindow } from '../../rules/sliding-window.ts'
import type { Tx } from '../../tx.ts'

/** A key of a limit. */
export interface LimitKey {
  readonly limit: string
  readonly key: string
}

/** Returns the limit of this name. A budget limits nothing but new work while it is used up. */
export function limitNamed(tx: Tx, name: string): Limit | undefined {
  if (!isBudgetId(name)) return tx.get('limit_definition', name)
  const budget = tx.get('budget', name)
  return budget === undefined ? undefined : limitOfBudget(budget)
}

/** Returns the gauge of a key as of now, or a new one. The caller puts it. A budget that is used up holds its key back. */
export function gaugeOf(tx: Tx, limit: Limit, key: string): Gauge {
  const gauge = storedGauge(tx, limit, key)
  if (isBudgetId(limit.id)) gauge.heldUntil = heldByBudget(tx, limit.id, key)
  return gauge
}

/** Returns until when a budget holds back new work with a key. A key without an account has spent nothing. */
function heldByBudget(tx: Tx, budgetId: string, key: string): Instant | undefined {
  const budget = tx.get('budget', budgetId)
  if (budget === undefined) return undefined
  const account = tx.get('account', accountIdOf(budgetId, key))
  return heldUntilOf(budget, account === undefined ? undefined : presentAccount(budget, account, tx.now), tx.now)
}

function storedGauge(tx: Tx, limit: Limit, key: string): Gauge {
  const id = gaugeId(limit.id, key)
  const found = tx.get('gauge', id)
  const windowMs = limit.rate?.windowMs ?? 0
  if (found === undefined) {
    return {
      type: 'gauge',
      id,
      limit: limit.id,
      key,
      heldCount: 0,
      holderCount: 0,
      window: [],
      windowMs,
      heldUntil: undefined,
      waiting: undefined,
      createdAt: tx.now,
      runners: undefined,
      heldBy: undefined,
      heldReason: undefined,
      owed: undefined,
      wakeAt: undefined,
    }
  }
  found.window = trimWindow(found.window, windowMs, tx.now)
  found.windowMs = windowMs
  if (found.heldUntil !== undefined && found.heldUntil <= tx.now) endHold(found)
  return found
}

/** Ends the hold of a key. The caller puts the gauge. */
export function endHold(gauge: Gauge): void {
  gauge.heldUntil = undefined
  gauge.heldBy = undefined
  gauge.heldReason = undefined
}

/** Returns the permits that a process holds of a key. A holding that has expired is not valid, even if it still exists. */
export function liveHolding(tx: Tx, { limit, key }: LimitKey, workerInstanceId: string): Holding | undefined {
  const holding = tx.get('holding', holdingId(limit, key, workerInstanceId))
  return holding !== undefined && holding.expiresAt > tx.now ? holding : undefined
}

/** Returns what a request took before, if the holding remembers it. */
export function pastRequest(
  holding: Holding | undefined,
  requestId: string,
): { readonly granted: number; readonly at: Instant } | undefined {
  for (const request of holding?.requests ?? []) if (request.id === requestId) return request
  return undefined
}

export function rememberRequest(holding: Holding, id: string, granted: number, at: Instant): void {
  holding.requests = holding.requests.concat([{ id, granted, at }]).slice(-HOLDING_REQUEST_MAX)
}

/** Removes a holding and takes its permits back. The caller puts the gauge. */
export function dropHolding(tx: Tx, gauge: Gauge, holding: Holding): void {
  gauge.heldCount = Math.max(0, gauge.heldCount - holding.count)
  gauge.holderCount = Math.max(0, gauge.holderCount - 1)
  keepRunners(gauge, (runner) => runner.workerInstanceId !== holding.workerInstanceId)
  tx.remove('holding', holding.id)
}

/** Removes runners from a gauge. The caller puts the gauge. */
export function keepRunners(gauge: Gauge, isKept: (runner: Runner) => boolean): void {
  if (gauge.runners === undefined) return
  const kept = gauge.runners.filter(isKept)
  gauge.runners = kept.length === 0 ? undefined : kept
}
