/** One helper per phase of a flow owns entering it: its fields and its event. The caller puts the flow with `putFlow`. */
import { SUBMISSION_IDLE_MS } from '../limits.ts'
import { flowSubject } from '../model/events.ts'
import type { Flow, FlowState } from '../model/records.ts'
import { flowOutcome } from '../rules/flow-state.ts'
import type { Tx } from '../tx.ts'

/** Returns the state of a flow whose submission is incomplete: held until its next call, and abandoned without one. */
export function awaitingSubmission(tx: Tx): FlowState {
  return { phase: 'held', until: tx.now + SUBMISSION_IDLE_MS }
}

/** Extends the hold of a flow after another call of its submission. */
export function extendHold(tx: Tx, flow: Flow): void {
  flow.state = awaitingSubmission(tx)
}

/** Closes the graph of a flow. The flow then ends with its last member. */
export function enterSealed(tx: Tx, flow: Flow): void {
  flow.state = { phase: 'sealed' }
  tx.emit('flow_sealed', flowSubject(flow), {})
}

/** Seals an ended flow again after a member was replayed. */
export function reopenFlow(tx: Tx, flow: Flow): void {
  flow.state = { phase: 'sealed' }
  tx.emit('flow_reopened', flowSubject(flow), {})
}

/** Cancels a flow. The caller starts the walk over its members. */
export function enterFlowCancelled(tx: Tx, flow: Flow, cancel: Omit<CancelledFlow, 'phase' | 'at'>): void {
  const { policy, reason, by, force, graceMs } = cancel
  flow.state = { phase: 'cancelled', policy, at: tx.now, reason, by, force, graceMs }
  tx.emit('flow_cancelled', flowSubject(flow), { reason, by })
}

type CancelledFlow = Extract<FlowState, { phase: 'cancelled' }>

/** Ends a flow whose members have all ended. */
export function enterFlowEnded(tx: Tx, flow: Flow): void {
  const outcome = flowOutcome(flow)
  flow.state = { phase: 'ended', outcome, at: tx.now }
  tx.emit('flow_ended', flowSubject(flow), { outcome })
}
