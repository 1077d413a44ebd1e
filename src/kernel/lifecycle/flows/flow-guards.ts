/** Checks who may change the graph of a flow, and when. */
import { refuseUnlessHeld } from '../fence.ts'
import type { LeaseRefusal } from '../fence.ts'
import type { Execution, ExecutionId, Fence, Flow, FlowId } from '../../model/records.ts'
import { refused } from '../../results.ts'
import type { Refused } from '../../results.ts'
import type { Tx } from '../../tx.ts'

/** A running member that acts for itself. It may extend a sealed flow, which cannot end while the member runs. */
export interface HolderInput {
  readonly executionId: ExecutionId
  readonly fence: Fence
}

/** Returns a flow unless it is being removed. */
export function findFlow(tx: Tx, flowId: FlowId): Flow | undefined {
  const flow = tx.get('flow', flowId)
  return flow?.walk?.purpose === 'remove' ? undefined : flow
}

export function flowNotFound(flowId: FlowId): Refused<'flow_not_found'> {
  return refused('flow_not_found', { flowId })
}

export function refuseUnlessOpen(
  flow: Flow,
  isHolder: boolean,
): Refused<'flow_ended' | 'flow_sealed' | 'flow_busy'> | undefined {
  const phase = flow.state.phase
  if (phase === 'ended' || phase === 'cancelled') return refused('flow_ended', { flowId: flow.id })
  // A submission in several calls accepts only the nodes and edges that it announced.
  const isClosed = phase === 'sealed' || (phase === 'held' && flow.submission !== undefined)
  if (isClosed && !isHolder) return refused('flow_sealed', { flowId: flow.id })
  return flow.walk?.purpose === 'replay' ? refused('flow_busy', { flowId: flow.id }) : undefined
}

export interface FoundHolder {
  readonly kind: 'found'
  readonly execution: Execution
}

/** Returns the execution of the holder if it is a member of this flow. */
export function findHolder(
  tx: Tx,
  flow: Flow,
  holder: HolderInput,
): FoundHolder | LeaseRefusal | Refused<'execution_not_found' | 'execution_not_in_flow'> {
  const execution = tx.get('execution', holder.executionId)
  if (execution === undefined) return refused('execution_not_found', { executionId: holder.executionId })
  if (execution.member?.flowId !== flow.id) return notInFlow(flow, execution.id)
  return refuseUnlessHeld(tx, execution, holder.fence) ?? { kind: 'found', execution }
}

export function notInFlow(flow: Flow, executionId: ExecutionId): Refused<'execution_not_in_flow'> {
  return refused('execution_not_in_flow', { flowId: flow.id, executionId })
}

/** Rises with every change of the graph: the number of members and edges. */
export function revisionOf(flow: Flow): number {
  return flow.memberCount + flow.edgeCount
}
