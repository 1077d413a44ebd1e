/** Sets the policy of a member's group, before its first edge. */
import type { ExecutionId, FlowId } from '../../model/records.ts'
import { refused, refusedFor } from '../../results.ts'
import type { Refused } from '../../results.ts'
import type { Tx } from '../../tx.ts'
import { hasPolicy } from '../../rules/edge-group.ts'
import type { PolicyInput } from '../../rules/edge-group.ts'
import { putFlow } from '../../lifecycle/flow-counts.ts'
import { findFlow, flowNotFound, notInFlow, refuseUnlessOpen } from '../../lifecycle/flows/flow-guards.ts'
import { setPolicy } from '../../lifecycle/flows/attach-member.ts'

export interface SetPolicyInput {
  readonly flowId: FlowId
  readonly executionId: ExecutionId
  readonly policy: PolicyInput
}

export type SetPolicyResult =
  | { readonly kind: 'policy_set' | 'policy_already_set' }
  | Refused<
      | 'flow_not_found'
      | 'execution_not_found'
      | 'execution_not_in_flow'
      | 'flow_ended'
      | 'flow_sealed'
      | 'flow_busy'
      | 'edge_group_policy_fixed'
    >

export function setEdgeGroupPolicy(tx: Tx, input: SetPolicyInput): SetPolicyResult {
  const flow = findFlow(tx, input.flowId)
  if (flow === undefined) return flowNotFound(input.flowId)
  const execution = tx.get('execution', input.executionId)
  if (execution === undefined) return refused('execution_not_found', { executionId: input.executionId })
  if (execution.member?.flowId !== flow.id) return notInFlow(flow, execution.id)
  const group = execution.member.group
  if (group !== undefined && hasPolicy(group, input.policy)) return { kind: 'policy_already_set' }
  const closed = refuseUnlessOpen(flow, false)
  if (closed !== undefined) return closed
  if (group !== undefined && group.total > 0) return refusedFor('edge_group_policy_fixed', execution)

  setPolicy(tx, flow, execution, input.policy)
  tx.put(execution)
  putFlow(tx, flow)
  return { kind: 'policy_set' }
}
