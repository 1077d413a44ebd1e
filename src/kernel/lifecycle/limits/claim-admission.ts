/** The admission of a claim: which executions it may lease, which still need a permit, and which a gate blocks. */
import { CLAIM_PERMIT_MAX } from '../../limits.ts'
import { isBudgetId } from '../../model/budget-ids.ts'
import { gateId, gatedIndex } from '../../model/indexes.ts'
import { laneSettingsId } from '../../model/lane-names.ts'
import type { NamedLane } from '../../model/lane-names.ts'
import type { Gate } from '../../model/limit-schema.ts'
import { idsOf } from '../../model/order.ts'
import type { Execution, LimitRef } from '../../model/records.ts'
import { laneLimitName } from '../../rules/lane-state.ts'
import type { Tx } from '../../tx.ts'
import { closeGate, gateBefore } from './gates.ts'
import type { Closing } from './gates.ts'
import type { LimitKey } from './gauges.ts'

const NO_LIMITS: readonly LimitRef[] = []

/** Permits of one key and weight that the process of a claim holds and does not use. */
export interface PermitsAtHand extends Omit<LimitRef, 'instead' | 'budget'> {
  readonly count: number
  /** Whether executions that the gate of the key blocks are claimed too. */
  readonly takesBlocked?: boolean | undefined
}

/** The permits that are left to a claim. */
export interface Hand {
  readonly permits: readonly PermitsAtHand[]
  /** How many of each are used, in the same order. */
  readonly used: number[]
  /** Keys that the process knows to have none. */
  readonly exhausted: readonly Closing[]
  /** Keys whose work is blocked in the partition, as far as the claim has met it. */
  readonly gates: LimitKey[]
}

export function handOf(
  permits: readonly PermitsAtHand[] | undefined,
  exhausted: readonly Closing[] | undefined = [],
): Hand {
  const kept = (permits ?? []).slice(0, CLAIM_PERMIT_MAX)
  return { permits: kept, used: kept.map(() => 0), exhausted: exhausted.slice(0, CLAIM_PERMIT_MAX), gates: [] }
}

export type Admission =
  /** It may start: no limit applies, or a permit of each is at hand. */
  | { readonly kind: 'admitted' }
  /** It may be leased, and starts when the worker has got the permits. */
  | { readonly kind: 'unadmitted' }
  | { readonly kind: 'blocked'; readonly gate: Gate }

const ADMITTED: Admission = { kind: 'admitted' }

/** Decides about one execution. One that undoes its steps is not limited. */
export function admissionOf(tx: Tx, execution: Execution, hand: Hand): Admission {
  const limits = limitsOf(tx, execution)
  if (limits.length === 0 || usePermits(hand, limits)) return ADMITTED
  notePassed(tx, execution, hand)
  const gate =
    gateBefore(tx, execution, limits, (needed) => placeIn(hand, needed) !== undefined) ??
    closeExhausted(tx, execution, limits, hand)
  return gate === undefined ? { kind: 'unadmitted' } : { kind: 'blocked', gate }
}

/** Uses a permit of each limit, if all are at hand. Limits differ in their names or keys, so no two use the same one. */
function usePermits(hand: Hand, limits: readonly LimitRef[]): boolean {
  for (const needed of limits) if (placeIn(hand, needed) === undefined) return false
  for (const needed of limits) {
    const place = placeIn(hand, needed)
    if (place !== undefined) hand.used[place] = (hand.used[place] ?? 0) + 1
  }
  return true
}

/** A gate that has released an execution may block others still. */
function notePassed(tx: Tx, { passes }: Execution, hand: Hand): void {
  for (const id of passes ?? []) {
    const gate = tx.get('gate', id)
    if (gate !== undefined) noteGate(hand, gate)
  }
}

/** Notes a key whose work the claim has met blocked. */
export function noteGate({ gates }: Hand, { limit, key }: Gate): void {
  if (gates.length >= CLAIM_PERMIT_MAX || gates.some((other) => other.limit === limit && other.key === key)) return
  gates.push({ limit, key })
}

/** Closes the gate of a key that is known to have no permit. */
function closeExhausted(tx: Tx, execution: Execution, limits: readonly LimitRef[], hand: Hand): Gate | undefined {
  for (const needed of limits) {
    const { limit, key, instead } = needed
    if (instead !== undefined || execution.passes?.includes(gateId(limit, key)) === true) continue
    const closing = hand.exhausted.find((other) => other.limit === limit && other.key === key)
    if (closing !== undefined && placeIn(hand, needed) === undefined) return closeGate(tx, closing)
  }
  return undefined
}

function placeIn({ permits, used }: Hand, { limit, key, weight, instead }: LimitRef): number | undefined {
  // The limit itself records who holds a permit that a later execution may ask for.
  if (instead === 'cancel') return undefined
  let other: number | undefined = undefined
  for (let i = 0; i < permits.length; i++) {
    const permit = permits[i]
    if (permit?.limit !== limit || permit.key !== key || (used[i] ?? 0) >= permit.count) continue
    if (permit.weight === weight) return i
    // What the rate has counted before may use any permit.
    if (weight === 0 && other === undefined) other = i
  }
  return other
}

/** The permits that an execution needs now. What continues has been counted by the rate before. */
export function limitsOf(tx: Tx, execution: Execution): readonly LimitRef[] {
  const { next, unwinding } = execution
  if (unwinding !== undefined) return NO_LIMITS
  const limits = allLimitsOf(tx, execution)
  if (next !== 'continue') return limits
  return limits.map(({ limit, key, instead, budget }) => ({ limit, key, weight: 0, instead, budget }))
}

/** Its own limits, and that of its lane in its namespace. */
function allLimitsOf(tx: Tx, execution: Execution): readonly LimitRef[] {
  const limits = sharedLimitsOf(execution)
  const settings = tx.get('lane', laneSettingsId(execution.lane, execution.namespace))
  return settings?.limit === undefined ? limits : limits.concat([laneLimitOf(execution)])
}

/** No other execution uses up an account of its own before it starts. */
export function sharedLimitsOf({ limits = NO_LIMITS }: Execution): readonly LimitRef[] {
  return limits.some(isOwn) ? limits.filter((needed) => !isOwn(needed)) : limits
}

function isOwn({ budget }: LimitRef): boolean {
  return budget === 'own' || budget === 'own_inherited'
}

export function laneLimitOf({ lane, namespace }: NamedLane): LimitRef {
  return { limit: laneLimitName(lane, namespace), key: '', weight: 1, instead: undefined, budget: undefined }
}

/** Returns what an execution needs of a limit, also if the limit of its lane was removed since its claim. */
export function neededOf(execution: Execution, limit: string, key: string): LimitRef | undefined {
  for (const needed of execution.limits ?? NO_LIMITS) if (needed.limit === limit && needed.key === key) return needed
  const isOfLane = limit === laneLimitName(execution.lane, execution.namespace) && key === ''
  return isOfLane ? laneLimitOf(execution) : undefined
}

/** A key of a budget that an execution spends. */
export interface BudgetKey extends LimitKey {
  /** Its children spend it too. */
  readonly isInherited: boolean
}

const NO_BUDGETS: readonly BudgetKey[] = []

/** The keys of budgets that an execution spends. A later run of the same id has accounts of its own, too. */
export function budgetsOf({ id, run = 0, limits }: Execution): readonly BudgetKey[] {
  if (limits === undefined) return NO_BUDGETS
  const own = run === 0 ? id : `${id}.${run}`
  const budgets: BudgetKey[] = []
  for (const needed of limits) {
    const { limit, key, budget } = needed
    if (!isBudgetId(limit)) continue
    budgets.push({
      limit,
      key: isOwn(needed) ? own : key,
      isInherited: budget === 'inherited' || budget === 'own_inherited',
    })
  }
  return budgets
}

/** The executions that gates block and for which permits are at hand, in the order in which they are claimed. */
export function blockedForHand(tx: Tx, { permits }: Hand, count: number): Execution[] {
  const found: Execution[] = []
  for (const { limit, key, count: left, takesBlocked } of permits) {
    if (takesBlocked !== true || found.length >= count) continue
    const index = gatedIndex(gateId(limit, key))
    const entries = tx.range({ index, limit: Math.min(left, count - found.length) })
    for (const execution of tx.getMany('execution', idsOf(entries))) found.push(execution)
  }
  return found
}
