/** Opens gates of keys with free permits, at once or at a later time. Called by processes that return permits, or give a budget room. */
import { gateWaitMax, releaseBehind } from '../../lifecycle/limits/gates.ts'
import type { LimitKey } from '../../lifecycle/limits/gauges.ts'
import { makeEligible } from '../../lifecycle/phases.ts'
import { GATE_OPEN_MAX, GATE_RELEASE_MAX } from '../../limits.ts'
import { gateId } from '../../model/indexes.ts'
import type { WokenExecution } from '../../model/limit-schema.ts'
import type { Tx } from '../../tx.ts'

export interface GateOpening extends LimitKey {
  /** How many permits are free, or will be. */
  readonly permits: number
  /** Zero for permits that are free now. */
  readonly afterMs: number
}

export interface OpenGatesInput {
  readonly gates: readonly GateOpening[]
  /** Executions whose holder has delayed them for lack of room in a budget. They do not wait for the end of their delay. */
  readonly executions?: readonly WokenExecution[] | undefined
}

export interface OpenGatesResult {
  readonly kind: 'gates_opened'
  /** In the order of the gates: how many executions became claimable at once. */
  readonly released: number[]
}

export function openGates(tx: Tx, input: OpenGatesInput): OpenGatesResult {
  for (const woken of (input.executions ?? []).slice(0, GATE_OPEN_MAX)) wake(tx, woken)
  const released: number[] = []
  for (const opening of input.gates.slice(0, GATE_OPEN_MAX)) released.push(openGate(tx, opening))
  return { kind: 'gates_opened', released }
}

/** No-op for an execution that was claimed since: it has asked again. */
function wake(tx: Tx, { executionId, epoch }: WokenExecution): void {
  const execution = tx.get('execution', executionId)
  if (execution?.state.phase !== 'delayed' || execution.epoch !== epoch || execution.state.cause !== 'worker') return
  makeEligible(tx, execution, { next: execution.next, event: 'execution_promoted' })
}

function openGate(tx: Tx, { limit, key, permits, afterMs }: GateOpening): number {
  const gate = tx.get('gate', gateId(limit, key))
  if (gate === undefined || permits <= 0) return 0
  // Without room for all, the rest is released by the due pass.
  if (afterMs <= 0 && tx.room() >= 2 * Math.min(permits, GATE_RELEASE_MAX) + 1) return releaseBehind(tx, gate, permits)
  const until = tx.now + Math.max(0, Math.min(afterMs, gateWaitMax(limit)))
  if (gate.until <= until) return 0
  gate.until = until
  gate.permits = permits
  tx.put(gate)
  return 0
}
