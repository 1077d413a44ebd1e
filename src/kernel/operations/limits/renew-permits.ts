/** Renews the permits of a worker process, with its leases. A holding that has lapsed is not revived. */
import { liveHolding } from '../../lifecycle/limits/gauges.ts'
import type { LimitKey } from '../../lifecycle/limits/gauges.ts'
import { PERMIT_REQUEST_MAX } from '../../limits.ts'
import type { Tx } from '../../tx.ts'

export interface RenewPermitsInput {
  readonly workerInstanceId: string
  readonly ttlMs: number
  readonly keys: readonly LimitKey[]
}

export interface RenewPermitsResult {
  readonly kind: 'permits_renewed'
  /** In the order of the keys: how many permits the process still holds. */
  readonly left: number[]
}

export function renewPermits(tx: Tx, input: RenewPermitsInput): RenewPermitsResult {
  const left: number[] = []
  for (const key of input.keys.slice(0, PERMIT_REQUEST_MAX)) {
    const holding = liveHolding(tx, key, input.workerInstanceId)
    left.push(holding?.count ?? 0)
    // Without permits there is nothing to keep alive.
    if (holding === undefined || holding.count === 0) continue
    holding.expiresAt = Math.max(holding.expiresAt, tx.now + input.ttlMs)
    tx.put(holding)
  }
  return { kind: 'permits_renewed', left }
}
