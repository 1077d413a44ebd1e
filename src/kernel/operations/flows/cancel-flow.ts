/**
 * Cancels a flow. From this operation on nothing of it is begun any more; as many members as there is room for are
 * cancelled in it, the others follow in the background.
 */
import { flowSubject } from '../../model/events.ts'
import type { Flow, FlowCancelPolicy, FlowId, Instant } from '../../model/records.ts'
import { refused } from '../../results.ts'
import type { Refused } from '../../results.ts'
import type { Tx } from '../../tx.ts'
import { putFlow } from '../../lifecycle/flow-counts.ts'
import { findFlow, flowNotFound } from '../../lifecycle/flows/flow-guards.ts'
import { isFlowSettled, liveCount, newWalk } from '../../rules/flow-state.ts'
import { walkFlow } from '../../lifecycle/flows/flow-walk.ts'

export interface CancelFlowInput {
  readonly flowId: FlowId
  /** `cancel_all`: every member. `cancel_pending`: those that do not run. `flow_only`: none, the flow alone. */
  readonly policy: FlowCancelPolicy
  readonly reason: string
  readonly by: string
  /** Whether running members end at once instead of being asked to stop. */
  readonly force: boolean
  readonly graceMs: number
}

export type CancelFlowResult =
  | {
      readonly kind: 'cancelled' | 'already_cancelled'
      /** That of the cancel that counts, which is the first. */
      readonly policy: FlowCancelPolicy
      readonly reason: string
      /** Whether nothing is owed any more and every member has ended. */
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
    if (input.force) hurry(tx, flow)
    return answer(tx, 'already_cancelled', flow)
  }

  beginCancel(tx, flow, input)
  return answer(tx, 'cancelled', flow)
}

/** Also how a submission that nobody goes on with is given up. */
export function beginCancel(tx: Tx, flow: Flow, input: Omit<CancelFlowInput, 'flowId'>): void {
  const { reason, by, force, graceMs } = input
  const wasHeld = flow.state.phase === 'held'
  // Of a graph that is not all there, no member may be left to run.
  const policy = wasHeld && flow.submission !== undefined ? 'cancel_all' : input.policy
  flow.state = { phase: 'cancelled', policy, at: tx.now, reason, by, force, graceMs }
  tx.emit('flow_cancelled', flowSubject(flow), { reason, by })
  const isEmpty = liveCount(flow.counts) === 0
  if (policy === 'flow_only') {
    // Left alone, some would wait for a seal, or for more edges, that cannot come any more.
    const isStuck = (wasHeld || flow.shortGroupCount > 0) && !isEmpty
    if (isStuck && flow.walk?.purpose !== 'release') flow.walk = newWalk('release')
  } else {
    flow.walk = isEmpty ? undefined : newWalk('cancel')
  }
  if (flow.walk === undefined) putFlow(tx, flow)
  else walkFlow(tx, flow)
}

/** Whoever asks again with force does not want to wait for holders that were asked before. */
function hurry(tx: Tx, flow: Flow): void {
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
    settled: isFlowSettled(flow),
    liveCount: liveCount(flow.counts),
    at: state.at,
  }
}
