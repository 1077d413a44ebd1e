import { beginFlowFollowUp } from '../../lifecycle/endings/begin-flow-follow-up.ts'
import { continueGraph } from '../../lifecycle/flows/flow-follow-up.ts'
import { isGivingWay } from '../../rules/flow-state.ts'
import type { FlowDueCase } from './due-case.ts'

/** Begins the follow-up of a flow that has finished: removes the members of the earlier run, and creates those of the next. */
export const flowFollowUp: FlowDueCase = {
  name: 'flow_follow_up',
  isDue: (flow) => isGivingWay(flow) || flow.begins !== undefined,
  run: (tx, flow) => (isGivingWay(flow) ? beginFlowFollowUp(tx, flow) : continueGraph(tx, flow)),
}
