/**
 * Names the partitions whose blocked work can use the permits of a limit that are free after a change of its definition, and of a budget
 * the delayed executions whose amounts fit. Called by the process that made the change, key by key. Without the call, blocked work asks
 * again when its gate opens. The wakes of a budget are delivered by the engine, if the process does not confirm that it has done so.
 */
import { accountOf, wakesOf } from '../../lifecycle/budgets/accounts.ts'
import { gaugeOf, limitNamed } from '../../lifecycle/limits/gauges.ts'
import { confirmOwed, takeWakes } from '../../lifecycle/limits/wakes.ts'
import type { LimitWake } from '../../lifecycle/limits/wakes.ts'
import { LIMIT_WAKE_COUNT, PARKED_WAKE_COUNT } from '../../limits.ts'
import { isBudgetId } from '../../model/budget-ids.ts'
import { gaugeId, keysIndex, parkedIndex } from '../../model/indexes.ts'
import type { Position } from '../../model/order.ts'
import type { Instant } from '../../model/records.ts'
import type { Range, Tx } from '../../tx.ts'
import { usageScore } from '../../rules/limit-usage.ts'

export interface WakeWaitingInput {
  readonly name: string
  readonly cursor?: WakeCursor | undefined
}

/** The progress of a walk over the keys of a limit: first those with blocked work; of a budget, then those with delayed executions. */
export interface WakeCursor {
  readonly stage: 'blocked' | 'delayed'
  readonly after?: Position | undefined
}

export interface KeyWake extends LimitWake {
  readonly key: string
}

export interface WakeWaitingResult {
  readonly kind: 'waiting_woken'
  readonly wakes: KeyWake[]
  /** Where to continue: keys that are busy come first. */
  readonly cursor: WakeCursor | undefined
  /** Of a budget: identifies the change whose work is woken. */
  readonly wakeAt: Instant | undefined
}

export function wakeWaiting(tx: Tx, input: WakeWaitingInput): WakeWaitingResult {
  const { wakes, cursor } = input.cursor?.stage === 'delayed' ? wakeDelayed(tx, input) : wakeBlocked(tx, input)
  const wakeAt = isBudgetId(input.name) ? tx.get('budget', input.name)?.wakeAt : undefined
  return { kind: 'waiting_woken', wakes, cursor, wakeAt }
}

type Page = Pick<WakeWaitingResult, 'wakes' | 'cursor'>

function wakeBlocked(tx: Tx, input: WakeWaitingInput): Page {
  const limit = limitNamed(tx, input.name)
  const range = waitingKeysRange(input)
  const gauges = limit === undefined ? [] : tx.scan(range, 'gauge')
  const last = gauges[gauges.length - 1]
  const wakes: KeyWake[] = []
  for (const { key, waiting } of gauges) {
    if (limit === undefined || waiting === undefined) continue
    const gauge = gaugeOf(tx, limit, key)
    const found = takeWakes(limit, gauge, tx.now)
    if (found.length === 0) continue
    tx.put(gauge)
    for (const wake of found) wakes.push({ key, ...wake })
  }
  if (gauges.length >= range.limit && last !== undefined)
    return { wakes, cursor: { stage: 'blocked', after: { score: usageScore(last), id: last.id } } }
  return { wakes, cursor: isBudgetId(input.name) ? { stage: 'delayed' } : undefined }
}

/** An account whose executions do not fit stays in the index, so the walk continues behind it. */
function wakeDelayed(tx: Tx, input: WakeWaitingInput): Page {
  const budget = tx.get('budget', input.name)
  const range = parkedKeysRange(input)
  const stored = budget === undefined ? [] : tx.scan(range, 'account')
  const last = stored[stored.length - 1]
  const wakes: KeyWake[] = []
  for (const { key } of stored) {
    if (budget === undefined) continue
    for (const wake of wakesOf(tx, { budget, account: accountOf(tx, budget, key), wasHeld: false })) wakes.push(wake)
  }
  const isWhole = stored.length < range.limit || last === undefined
  return { wakes, cursor: isWhole ? undefined : { stage: 'delayed', after: { score: 0, id: last.id } } }
}

/** The page of keys that a step of the walk looks at. */
export function wakeRange(input: WakeWaitingInput): Range {
  return input.cursor?.stage === 'delayed' ? parkedKeysRange(input) : waitingKeysRange(input)
}

function waitingKeysRange({ name, cursor }: WakeWaitingInput): Range {
  return { index: keysIndex(name), from: cursor?.after, limit: LIMIT_WAKE_COUNT }
}

function parkedKeysRange({ name, cursor }: WakeWaitingInput): Range {
  return { index: parkedIndex(name), from: cursor?.after, limit: PARKED_WAKE_COUNT }
}

export interface ReadWakesInput {
  /** The id of a gauge. */
  readonly id: string
}

export interface ReadWakesResult {
  readonly kind: 'wakes_read'
  /** The budget whose wakes they are; undefined if none is owed. */
  readonly limit: string | undefined
  readonly wakes: KeyWake[]
}

/** Returns the wakes of a budget that are not confirmed. */
export function readWakes(tx: Tx, { id }: ReadWakesInput): ReadWakesResult {
  const gauge = tx.get('gauge', id)
  if (gauge?.owed === undefined) return { kind: 'wakes_read', limit: undefined, wakes: [] }
  const { limit, key, owed } = gauge
  return { kind: 'wakes_read', limit, wakes: owed.map((wake) => ({ key, ...wake })) }
}

export interface ConfirmWakesInput {
  /** The id of a budget. */
  readonly limit: string
  /** Keys whose wakes have arrived, up to those of an instant. */
  readonly keys: readonly { readonly key: string; readonly at: Instant }[]
  /** The change all of whose work was woken. */
  readonly wakeAt?: Instant | undefined
}

export interface ConfirmWakesResult {
  readonly kind: 'wakes_confirmed'
}

/** Forgets wakes of a budget that a process has delivered. Idempotent. */
export function confirmWakes(tx: Tx, { limit, keys, wakeAt }: ConfirmWakesInput): ConfirmWakesResult {
  for (const { key, at } of keys.slice(0, LIMIT_WAKE_COUNT)) {
    const gauge = tx.get('gauge', gaugeId(limit, key))
    if (gauge?.owed === undefined) continue
    confirmOwed(gauge, at)
    tx.put(gauge)
  }
  const budget = wakeAt === undefined ? undefined : tx.get('budget', limit)
  if (budget !== undefined && budget.wakeAt === wakeAt) {
    budget.wakeAt = undefined
    tx.put(budget)
  }
  return { kind: 'wakes_confirmed' }
}
