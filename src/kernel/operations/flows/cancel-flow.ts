/**
 * Cancels a flow, so that no member starts any more. Members beyond the limit of the operation follow in the due pass.
 */
import type { Flow, FlowCancelPolicy, FlowId, Instant } from '../../model/records.ts'
import { refused } from '../../results.ts'
import type { Refused } from '../../results.ts'
import type { Tx } from '../../tx.ts'
import { beginCancel } from '../../lifecycle/flows/begin-cancel.ts'
import type { FlowCancel } from '../../lifecycle/flows/begin-cancel.ts'
import { flowNotFound } from '../../lifecycle/flows/flow-guards.ts'
import { dropFlowFollowUp } from '../../lifecycle/flows/flow-follow-up.ts'
import { putFlow } from '../../lifecycle/flow-counts.ts'
import { isFlowFinished, isGivingWay, liveCount, newWalk } from '../../rules/flow-state.ts'
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
      /** Set if the cancel dropped a pending follow-up. */
      readonly droppedFollowUp?: true
    }
  | Refused<'flow_not_found' | 'flow_ended' | 'flow_busy'>

export function cancelFlow(tx: Tx, input: CancelFlowInput): CancelFlowResult {
  const flow = tx.get('flow', input.flowId)
  // The follow-up can be cancelled once it has begun, which takes no more than the removal of the earlier members.
  if (flow !== undefined && isGivingWay(flow)) return refused('flow_busy', { flowId: flow.id })
  if (flow === undefined || flow.walk?.purpose === 'remove') return flowNotFound(input.flowId)
  if (flow.state.phase === 'ended') return refused('flow_ended', { flowId: flow.id, outcome: flow.state.outcome })

  const isDropped = dropFlowFollowUp(tx, flow, input.by, input.reason)
  const dropped = isDropped ? ({ droppedFollowUp: true } as const) : {}
  if (flow.state.phase === 'cancelled') {
    if (isDropped) putFlow(tx, flow)
    if (input.force) forceCancel(tx, flow)
    return { ...answer(tx, 'already_cancelled', flow), ...dropped }
  }
  beginCancel(tx, flow, input)
  return { ...answer(tx, 'cancelled', flow), ...dropped }
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

function answer(tx: Tx, kind: 'cancelled' | 'already_cancelled', flow: Flow): Exclude<CancelFlowResult, Refused> {
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
