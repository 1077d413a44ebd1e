/** Starts the cancel of a flow. The walk cancels as many members as there is room for; the due pass resumes it. */
import type { Flow, FlowCancelPolicy } from '../../model/records.ts'
import { liveCount, newWalk } from '../../rules/flow-state.ts'
import type { Tx } from '../../tx.ts'
import { putFlow } from '../flow-counts.ts'
import { enterFlowCancelled } from '../flow-phases.ts'
import { dropPendingGraph } from './pending-graph.ts'
import { walkFlow } from './flow-walk.ts'

export interface FlowCancel {
  /** `cancel_all`: every member. `cancel_pending`: members that are not running. `flow_only`: none. */
  readonly policy: FlowCancelPolicy
  readonly reason: string
  readonly by: string
  /** Whether running members end at once. Otherwise their holders are asked to stop. */
  readonly force: boolean
  readonly graceMs: number
}

/** Moves a flow to `cancelled` and starts the walk over its members. Also cancels abandoned submissions. */
export function beginCancel(tx: Tx, flow: Flow, input: FlowCancel): void {
  const wasHeld = flow.state.phase === 'held'
  // No member of an incomplete graph may run.
  const policy = wasHeld && flow.submission !== undefined ? 'cancel_all' : input.policy
  dropPendingGraph(tx, flow)
  enterFlowCancelled(tx, flow, { ...input, policy })
  const isEmpty = liveCount(flow.counts) === 0
  if (policy === 'flow_only') {
    // Without a walk, held members and short groups would wait for ever: the flow can no longer be sealed or extended.
    const isStuck = (wasHeld || flow.shortGroupCount > 0) && !isEmpty
    if (isStuck && flow.walk?.purpose !== 'release') flow.walk = newWalk('release')
  } else {
    flow.walk = isEmpty ? undefined : newWalk('cancel')
  }
  if (flow.walk === undefined) putFlow(tx, flow)
  else walkFlow(tx, flow)
}
