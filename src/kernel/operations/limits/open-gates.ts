/** Opens gates of keys with free permits, at once or at a later time. Called by processes that return permits. */
import { releaseBehind } from '../../lifecycle/limits/gates.ts'
import type { LimitKey } from '../../lifecycle/limits/gauges.ts'
import { GATE_OPEN_MAX, GATE_RELEASE_MAX, GATE_WAIT_MAX_MS } from '../../limits.ts'
import { gateId } from '../../model/indexes.ts'
import type { Tx } from '../../tx.ts'

export interface GateOpening extends LimitKey {
  /** How many permits are free, or will be. */
  readonly permits: number
  /** Zero for permits that are free now. */
  readonly afterMs: number
}

export interface OpenGatesInput {
  readonly gates: readonly GateOpening[]
}

export interface OpenGatesResult {
  readonly kind: 'gates_opened'
  /** In the order of the gates: how many executions became claimable at once. */
  readonly released: number[]
}

export function openGates(tx: Tx, input: OpenGatesInput): OpenGatesResult {
  const released: number[] = []
  for (const opening of input.gates.slice(0, GATE_OPEN_MAX)) released.push(openGate(tx, opening))
  return { kind: 'gates_opened', released }
}

function openGate(tx: Tx, { limit, key, permits, afterMs }: GateOpening): number {
  const gate = tx.get('gate', gateId(limit, key))
  if (gate === undefined || permits <= 0) return 0
  // Without room for all, the rest is released by the due pass.
  if (afterMs <= 0 && tx.room() >= 2 * Math.min(permits, GATE_RELEASE_MAX) + 1) return releaseBehind(tx, gate, permits)
  const until = tx.now + Math.max(0, Math.min(afterMs, GATE_WAIT_MAX_MS))
  if (gate.until <= until) return 0
  gate.until = until
  gate.permits = permits
  tx.put(gate)
  return 0
}
