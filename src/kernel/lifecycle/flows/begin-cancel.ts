/** Begins the cancel of a flow. The walk over its members cancels as many as there is room for; the due pass resumes it. */
import type { Flow, FlowCancelPolicy } from '../../model/records.ts'
import { liveCount, newWalk } from '../../rules/flow-state.ts'
import type { Tx } from '../../tx.ts'
import { putFlow } from '../flow-counts.ts'
import { enterFlowCancelled } from '../flow-phases.ts'
import { walkFlow } from './flow-walk.ts'

export interface FlowCancel {
  /** `cancel_all`: every member. `cancel_pending`: those that do not run. `flow_only`: none, the flow alone. */
  readonly policy: FlowCancelPolicy
  readonly reason: string
  readonly by: string
  /** Whether running members end at once instead of being asked to stop. */
  readonly force: boolean
  readonly graceMs: number
}

/**
 * Moves a flow to `cancelled` and starts the walk that cancels its members. Also used for submissions that were abandoned
 * before all members arrived.
 */
export function beginCancel(tx: Tx, flow: Flow, input: FlowCancel): void {
  const wasHeld = flow.state.phase === 'held'
  // Of a graph that is not all there, no member may be left to run.
  const policy = wasHeld && flow.submission !== undefined ? 'cancel_all' : input.policy
  enterFlowCancelled(tx, flow, { ...input, policy })
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
