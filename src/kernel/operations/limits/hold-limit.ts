/** Holds back one key of a limit for all workers, as after a response that asks to retry later, and lifts the hold. */
import { endHold, gaugeOf } from '../../lifecycle/limits/gauges.ts'
import type { LimitKey } from '../../lifecycle/limits/gauges.ts'
import { takeWakes } from '../../lifecycle/limits/wakes.ts'
import type { LimitWake } from '../../lifecycle/limits/wakes.ts'
import { LIMIT_HOLD_MAX_MS } from '../../limits.ts'
import { gaugeId } from '../../model/indexes.ts'
import { refused } from '../../results.ts'
import type { Refused } from '../../results.ts'
import type { Tx } from '../../tx.ts'

export interface HoldLimitInput extends LimitKey {
  readonly retryAfterMs: number
  readonly by?: string | undefined
  readonly reason?: string | undefined
}

export type HoldLimitResult =
  { readonly kind: 'limit_held' | 'limit_already_held'; readonly retryAfterMs: number } | Refused<'limit_not_found'>

export function holdLimit(tx: Tx, input: HoldLimitInput): HoldLimitResult {
  const limit = tx.get('limit_definition', input.limit)
  if (limit === undefined || limit.deletedAt !== undefined) return refused('limit_not_found', { name: input.limit })
  const gauge = gaugeOf(tx, limit, input.key)
  const until = tx.now + Math.min(input.retryAfterMs, LIMIT_HOLD_MAX_MS)
  const heldUntil = gauge.heldUntil ?? tx.now
  // The longest of the requested holds applies.
  if (heldUntil >= until) return { kind: 'limit_already_held', retryAfterMs: heldUntil - tx.now }

  gauge.heldUntil = until
  gauge.heldBy = input.by
  gauge.heldReason = input.reason
  tx.put(gauge)
  return { kind: 'limit_held', retryAfterMs: until - tx.now }
}

export type LiftHoldInput = LimitKey

export type LiftHoldResult =
  /** `wakes` names the partitions whose blocked work can use the permits that are free. */
  | { readonly kind: 'hold_lifted'; readonly wakes: LimitWake[] }
  | { readonly kind: 'limit_not_held' }
  | Refused<'limit_not_found'>

/** Ends the hold of a key before its time. */
export function liftHold(tx: Tx, input: LiftHoldInput): LiftHoldResult {
  const limit = tx.get('limit_definition', input.limit)
  if (limit === undefined || limit.deletedAt !== undefined) return refused('limit_not_found', { name: input.limit })
  const gauge = tx.get('gauge', gaugeId(input.limit, input.key))
  if (gauge?.heldUntil === undefined || gauge.heldUntil <= tx.now) return { kind: 'limit_not_held' }

  endHold(gauge)
  const wakes = takeWakes(limit, gauge, tx.now)
  tx.put(gauge)
  return { kind: 'hold_lifted', wakes }
}
