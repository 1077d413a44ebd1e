/** Holds back one key of a limit for all workers, as after a response that asks to retry later. */
import { gaugeOf } from '../../lifecycle/limits/gauges.ts'
import type { LimitKey } from '../../lifecycle/limits/gauges.ts'
import { LIMIT_HOLD_MAX_MS } from '../../limits.ts'
import { refused } from '../../results.ts'
import type { Refused } from '../../results.ts'
import type { Tx } from '../../tx.ts'

export interface HoldLimitInput extends LimitKey {
  readonly retryAfterMs: number
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
  tx.put(gauge)
  return { kind: 'limit_held', retryAfterMs: until - tx.now }
}
