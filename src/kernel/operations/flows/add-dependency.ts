/** Adds an edge between two members, and resolves it if the upstream has ended. */
import { edgeId } from '../../model/indexes.ts'
import { refuseUnlessHeld } from '../../lifecycle/fence.ts'
import type { LeaseRefusal } from '../../lifecycle/fence.ts'
import { block, waitForDependencies } from '../../lifecycle/phases.ts'
import type {
  Edge,
  EdgeState,
  EdgeTolerance,
  Execution,
  ExecutionId,
  Fence,
  Flow,
  FlowId,
  GroupVerdict,
  Handover,
} from '../../model/records.ts'
import { refused, refusedFor } from '../../results.ts'
import type { Refused } from '../../results.ts'
import type { Tx } from '../../tx.ts'
import { ALL_OF, waitsForAll } from '../../rules/edge-group.ts'
import { putFlow, shiftCount } from '../../lifecycle/flow-counts.ts'
import { findFlow, flowNotFound, notInFlow, refuseUnlessOpen, revisionOf } from '../../lifecycle/flows/flow-guards.ts'
import { bucketOf, movesMembers } from '../../rules/flow-state.ts'
import { orderEdge } from '../../lifecycle/flows/rank-order.ts'
import { isAmbiguous, link, mayHandPayload, refuseTooMany, sameHandover } from '../../lifecycle/flows/attach-member.ts'
import type { Link } from '../../lifecycle/flows/attach-member.ts'
import { decideGroup, followEnds } from '../../lifecycle/flows/resolve-edges.ts'

export interface AddDependencyInput {
  readonly flowId: FlowId
  readonly upstreamId: ExecutionId
  readonly downstreamId: ExecutionId
  readonly hands?: Handover | undefined
  readonly onFailure?: EdgeTolerance | undefined
  /** If given, the edge is added only to this revision of the graph. */
  readonly expectedRevision?: number | undefined
  /** The fence of the holder of the downstream, which may add to its own dependencies. */
  readonly fence?: Fence | undefined
}

export type AddDependencyRefusal =
  | LeaseRefusal
  | Refused<
      | 'self_referencing_edge'
      | 'flow_not_found'
      | 'execution_not_found'
      | 'execution_not_in_flow'
      | 'dependency_already_exists'
      | 'flow_ended'
      | 'flow_sealed'
      | 'flow_busy'
      | 'stale_graph_revision'
      | 'execution_ended'
      | 'not_runnable'
      | 'edge_group_already_fired'
      | 'graph_limit_exceeded'
      | 'cycle_detected'
      | 'invalid_input'
    >

export type AddDependencyResult =
  | {
      readonly kind: 'added' | 'already_added'
      readonly revision: number
      readonly edge: EdgeState
      readonly verdict: GroupVerdict
      readonly downstream: Execution['state']['phase']
    }
  | AddDependencyRefusal

export function addDependency(tx: Tx, input: AddDependencyInput): AddDependencyResult {
  if (input.upstreamId === input.downstreamId) {
    return refused('self_referencing_edge', { executionId: input.upstreamId })
  }
  const flow = findFlow(tx, input.flowId)
  if (flow === undefined) return flowNotFound(input.flowId)
  const upstream = tx.get('execution', input.upstreamId)
  if (upstream === undefined) return refused('execution_not_found', { executionId: input.upstreamId })
  if (upstream.member?.flowId !== flow.id) return notInFlow(flow, upstream.id)
  const downstream = tx.get('execution', input.downstreamId)
  if (downstream === undefined) return refused('execution_not_found', { executionId: input.downstreamId })
  if (downstream.member?.flowId !== flow.id) return notInFlow(flow, downstream.id)
  const existing = tx.get('edge', edgeId(upstream.id, downstream.id))
  if (existing !== undefined) {
    if (!sameHandover(existing.hands, input.hands) || existing.onFailure !== input.onFailure) {
      return refused('dependency_already_exists', { executionId: downstream.id, flowId: flow.id })
    }
    return answer('already_added', flow, existing, downstream)
  }
  const refusal = refuseEdge(tx, flow, downstream, input)
  if (refusal !== undefined) return refusal
  const order = orderEdge(tx, flow, upstream, downstream)
  if (order.kind === 'refused') return order

  for (const moved of order.moved) if (moved.id !== downstream.id) tx.put(moved)
  addEdge(tx, { flow, upstream, downstream, hands: input.hands, onFailure: input.onFailure })
  const edge = tx.get('edge', edgeId(upstream.id, downstream.id))
  if (edge === undefined) return tx.fault('an edge is missing after it was added', downstream.id)
  return answer('added', flow, edge, downstream)
}

/** Adds an edge whose ranks agree: links the members, blocks the downstream unless leased, and decides its group. */
export function addEdge(tx: Tx, edge: Link): void {
  const { flow, upstream, downstream } = edge
  const before = bucketOf(downstream)
  link(tx, edge)
  const phase = downstream.state.phase
  if (phase === 'eligible' || phase === 'delayed') block(tx, downstream, 'dependencies')
  else waitForDependencies(downstream)
  shiftCount(tx, flow, downstream, before)
  decideGrownGroup(tx, flow, downstream, upstream.id)
  putFlow(tx, flow)
}

/** Decides a group with new edges, if the flow allows members to move. Puts the member; the caller puts the flow. */
export function decideGrownGroup(tx: Tx, flow: Flow, downstream: Execution, cause: ExecutionId): void {
  if (!movesMembers(flow)) {
    tx.put(downstream)
    return
  }
  const ended: Execution[] = []
  decideGroup(tx, { flow, ended }, downstream, cause)
  followEnds(tx, flow, ended)
}

function refuseEdge(
  tx: Tx,
  flow: Flow,
  downstream: Execution,
  input: AddDependencyInput,
): AddDependencyRefusal | undefined {
  const fence = input.fence
  if (fence !== undefined) {
    const lost = refuseUnlessHeld(tx, downstream, fence)
    if (lost !== undefined) return lost
  }
  const closed = refuseUnlessOpen(flow, fence !== undefined)
  if (closed !== undefined) return closed
  if (input.expectedRevision !== undefined && input.expectedRevision !== revisionOf(flow)) {
    return refused('stale_graph_revision', { flowId: flow.id, revision: revisionOf(flow) })
  }
  const phase = downstream.state.phase
  if (phase === 'ended') return refusedFor('execution_ended', downstream)
  if (fence === undefined && (phase === 'active' || phase === 'suspended' || downstream.unwinding !== undefined))
    return refusedFor('not_runnable', downstream)
  const group = downstream.member?.group
  if (group !== undefined && group.verdict !== 'pending') {
    // A group that waits for all may get another edge while its member has not started, or from the member itself.
    const mayReopen = waitsForAll(group.policy) && group.verdict === 'satisfied'
    const hasBegun = downstream.attempt !== undefined && fence === undefined
    if (!mayReopen || hasBegun) return refusedFor('edge_group_already_fired', downstream)
  }
  if (isAmbiguous({ hands: input.hands, onFailure: input.onFailure })) {
    return refused('invalid_input', { executionId: downstream.id })
  }
  const payloadEdges = (downstream.member?.payloadEdgeCount ?? 0) + (input.hands?.as === 'payload' ? 1 : 0)
  if (!mayHandPayload(group ?? ALL_OF, group?.need ?? 0, payloadEdges)) {
    return refused('invalid_input', { executionId: downstream.id })
  }
  return refuseTooMany(flow, 1, (group?.total ?? 0) + 1)
}

function answer(kind: 'added' | 'already_added', flow: Flow, edge: Edge, downstream: Execution): AddDependencyResult {
  return {
    kind,
    revision: revisionOf(flow),
    edge: edge.state,
    verdict: downstream.member?.group?.verdict ?? 'pending',
    downstream: downstream.state.phase,
  }
}
