/**
 * Cancels a flow, so that no member starts any more. Members beyond the limit of the operation follow in the due pass.
 */
import type { Flow, FlowCancelPolicy, FlowId, Instant } from '../../model/records.ts'
import { refused } from '../../results.ts'
import type { Refused } from '../../results.ts'
import type { Tx } from '../../tx.ts'
import { beginCancel } from '../../lifecycle/flows/begin-cancel.ts'
import type { FlowCancel } from '../../lifecycle/flows/begin-cancel.ts'
import { findFlow, flowNotFound } from '../../lifecycle/flows/flow-guards.ts'
import { isFlowFinished, liveCount, newWalk } from '../../rules/flow-state.ts'
import { walkFlow } from '../../lifecycle/flows/flow-walk.ts'

export interface CancelFlowInput extends FlowCancel {
  readonly flowId: FlowId
}

export type CancelFlowResult =
  | {
      readonly kind: 'cancelled' | 'already_cancelled'
      /** The policy of the first cancel, which applies. */
      readonly policy: FlowCancelPolicy
      readonly reason: string
      /** Whether no cancels are pending and every member has ended. */
      readonly settled: boolean
      readonly liveCount: number
      readonly at: Instant
    }
  | Refused<'flow_not_found' | 'flow_ended'>

export function cancelFlow(tx: Tx, input: CancelFlowInput): CancelFlowResult {
  const flow = findFlow(tx, input.flowId)
  if (flow === undefined) return flowNotFound(input.flowId)
  if (flow.state.phase === 'ended') return refused('flow_ended', { flowId: flow.id, outcome: flow.state.outcome })
  if (flow.state.phase === 'cancelled') {
    if (input.force) forceCancel(tx, flow)
    return answer(tx, 'already_cancelled', flow)
  }

  beginCancel(tx, flow, input)
  return answer(tx, 'cancelled', flow)
}

/** A repeated cancel with force does not wait for holders that were asked before. */
function forceCancel(tx: Tx, flow: Flow): void {
  const state = flow.state
  if (state.phase !== 'cancelled' || state.force || state.policy !== 'cancel_all') return
  if (liveCount(flow.counts) === 0) return
  state.force = true
  flow.walk = newWalk('cancel')
  walkFlow(tx, flow)
}

function answer(tx: Tx, kind: 'cancelled' | 'already_cancelled', flow: Flow): CancelFlowResult {
  const state = flow.state
  if (state.phase !== 'cancelled') return tx.fault('a flow is not cancelled after its cancel', flow.id)
  return {
    kind,
    policy: state.policy,
    reason: state.reason,
    settled: isFlowFinished(flow),
    liveCount: liveCount(flow.counts),
    at: state.at,
  }
}
