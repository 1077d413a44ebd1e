/** Gates: a gate blocks the executions of one key of a limit in one partition, and releases as many as there may be permits. */
import { BUDGET_GATE_WAIT_MAX_MS, GATE_RELEASE_MAX, GATE_WAIT_MAX_MS, LIMIT_PROBE_MS } from '../../limits.ts'
import { isBudgetId } from '../../model/budget-ids.ts'
import { gateId, gatedIndex } from '../../model/indexes.ts'
import type { Gate, LimitCause } from '../../model/limit-schema.ts'
import { idsOf } from '../../model/order.ts'
import type { Execution, LimitRef } from '../../model/records.ts'
import type { Tx } from '../../tx.ts'
import { passGate } from '../phases.ts'

/** Why a key has no permit, and when it may have one. */
export interface Closing {
  readonly limit: string
  readonly key: string
  readonly cause: LimitCause
  /** Absent if only a release makes room. */
  readonly retryAfterMs: number | undefined
}

/** Closes the gate of a key, or leaves it closed. A gate that is closed already opens at the earlier of both times. */
export function closeGate(tx: Tx, { limit, key, cause, retryAfterMs }: Closing): Gate {
  const id = gateId(limit, key)
  const found = tx.get('gate', id)
  const waitMs = Math.max(1, Math.min(retryAfterMs ?? LIMIT_PROBE_MS, longestWait(tx, limit, found)))
  const gate: Gate = found ?? {
    type: 'gate',
    id,
    limit,
    key,
    cause,
    until: tx.now + waitMs,
    permits: 1,
    createdAt: tx.now,
  }
  gate.cause = cause
  // The probe of a budget has been answered, so that no other is needed soon. A gate that is being opened stays so.
  const isAnswered = found !== undefined && isBudgetId(limit) && gate.permits === 1 && gate.until > tx.now
  gate.until = isAnswered ? tx.now + waitMs : Math.min(gate.until, tx.now + waitMs)
  tx.put(gate)
  return gate
}

/** A budget is asked ever more seldom, because what gives it room opens its gates: each time after as long as the gate has existed. */
function longestWait(tx: Tx, limit: string, gate: Gate | undefined): number {
  if (!isBudgetId(limit) || gate === undefined) return GATE_WAIT_MAX_MS
  return Math.min(Math.max(GATE_WAIT_MAX_MS, tx.now - gate.createdAt), BUDGET_GATE_WAIT_MAX_MS)
}

/** Returns the longest time that the gate of a key may wait. */
export function gateWaitMax(limit: string): number {
  return isBudgetId(limit) ? BUDGET_GATE_WAIT_MAX_MS : GATE_WAIT_MAX_MS
}

/** Returns the first gate that blocks an execution, unless the gate has released it, or the caller has a permit. */
export function gateBefore(
  tx: Tx,
  execution: Execution,
  limits: readonly LimitRef[],
  isCovered: (needed: LimitRef) => boolean,
): Gate | undefined {
  for (const needed of limits) {
    // It does not wait as the others do, so it asks for a permit.
    if (needed.instead !== undefined) continue
    const id = gateId(needed.limit, needed.key)
    if (isCovered(needed) || execution.passes?.includes(id) === true) continue
    const gate = tx.get('gate', id)
    if (gate !== undefined) return gate
  }
  return undefined
}

/** Releases executions in the order in which they are claimed. A gate that blocks nothing any more is removed. */
export function releaseBehind(tx: Tx, gate: Gate, permits: number): number {
  const count = Math.min(permits, GATE_RELEASE_MAX)
  // One more than it releases shows whether any remains.
  const entries = tx.range({ index: gatedIndex(gate.id), limit: count + 1 })
  let released = 0
  for (const execution of tx.getMany('execution', idsOf(entries.slice(0, count)))) {
    // The index reconciler finds a wrong entry; it must not block the others.
    if (execution.state.phase !== 'blocked' || execution.state.gate !== gate.id) continue
    passGate(tx, execution, gate.id)
    released = released + 1
  }
  // The gate of a budget outlives a probe, and with it how long it has asked in vain.
  const isProbe = isBudgetId(gate.limit) && permits === 1 && entries.length > 0
  if (entries.length <= count && !isProbe) {
    tx.remove('gate', gate.id)
    return released
  }
  const left = permits - count
  gate.permits = left > 0 ? left : 1
  gate.until = left > 0 ? tx.now : tx.now + LIMIT_PROBE_MS
  tx.put(gate)
  return released
}
