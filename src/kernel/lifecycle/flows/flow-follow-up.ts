/**
 * Follow-ups of flows: one more run with another graph, which begins when the present run has finished. A flow has at most one;
 * a later one takes its place. The graph waits in the record of the flow, and its payloads in the slot of its run. Its members
 * have the ids of the members of the present run, so those are removed first.
 */
import { flowInputKey, payloadKeyOf } from '../../model/blob-keys.ts'
import { flowSubject } from '../../model/events.ts'
import { FOLLOW_UP_EDGE_MAX, FOLLOW_UP_NODE_MAX, PAST_REQUEST_MAX } from '../../limits.ts'
import type { Execution, Flow, FlowFollowUp, Instant } from '../../model/records.ts'
import { refused } from '../../results.ts'
import type { Refused } from '../../results.ts'
import { BY_FLOW, isGivingWay } from '../../rules/flow-state.ts'
import type { BlobInput, Tx } from '../../tx.ts'
import { putFlow } from '../flow-counts.ts'
import { refuseHeldNodes } from '../lanes.ts'
import { blobInfo } from '../new-execution.ts'
import { refuseQueues } from '../queues.ts'
import { beginCancel } from './begin-cancel.ts'
import { newFlow } from './new-flow.ts'
import type { FlowInput } from './new-flow.ts'
import { addNodes, checkEdges, newGraph, shortNodes, writeGraph } from './new-graph.ts'
import type { GraphRefusal } from './new-graph.ts'
import { forgetPayloads, nextPart, pendingGraphOf } from './pending-graph.ts'
import type { GraphPart } from './pending-graph.ts'

/** The submit of a follow-up, with its whole graph. */
export interface FollowUpInput extends FlowInput, GraphPart {
  readonly digest: string
  readonly input?: BlobInput | undefined
  readonly nodeCount: number
  readonly edgeCount: number
}

/** Returns the number of the run that comes after a finished one. It is also the slot in which a follow-up is stored. */
export function nextFlowRun({ run = 0 }: Flow): number {
  return run + 1
}

/** Whether a submit is the repetition of one that a flow has had and is past. */
export function isPastFlowRequest(flow: Flow, requestId: string | undefined): boolean {
  if (requestId === undefined) return false
  return flow.pastRequests?.includes(requestId) === true || (isGivingWay(flow) && flow.requestId === requestId)
}

/** Returns the latest submits of a flow that are past, with one more. */
export function withPastRequest({ pastRequests = [] }: Flow, requestId: string | undefined): readonly string[] {
  return requestId === undefined ? pastRequests : [...pastRequests, requestId].slice(-PAST_REQUEST_MAX)
}

/** Whether a graph is small enough to wait in the record of its flow. */
export function mayWait({ nodes, edges, nodeCount, edgeCount }: FollowUpInput): boolean {
  const isWhole = nodes.length === nodeCount && edges.length === edgeCount
  return isWhole && nodes.length <= FOLLOW_UP_NODE_MAX && edges.length <= FOLLOW_UP_EDGE_MAX
}

/**
 * Stores the follow-up of a flow that has not given way yet. It takes the place of a pending one. Refuses
 * a graph that could not be created, and one that is too large to wait in a record.
 */
export function setFlowFollowUp(tx: Tx, flow: Flow, input: FollowUpInput): GraphRefusal | undefined {
  const { nodes } = input
  if (!mayWait(input)) {
    return refused('graph_limit_exceeded', { flowId: flow.id, limit: FOLLOW_UP_NODE_MAX })
  }
  const refusal = refuseGraph(tx, flow, input)
  if (refusal !== undefined) return refusal

  const displaced = flow.followUp
  if (displaced !== undefined) forgetFollowUp(tx, flow, displaced)
  flow.followUp = {
    requestId: input.requestId,
    name: input.name,
    tags: [...input.tags],
    outcomeRule: input.outcomeRule,
    retentionMs: input.retentionMs,
    dedupeMs: input.dedupeMs,
    digest: input.digest,
    input: blobInfo(input.input),
    at: tx.now,
    hasDisplaced: displaced !== undefined,
    ...pendingGraphOf(input),
  }
  const slot = nextFlowRun(flow)
  if (input.input !== undefined) tx.keep(flowInputKey({ id: flow.id, inputSlot: slot }), input.input.blob)
  for (const { create } of nodes) {
    if (create.payload !== undefined) {
      tx.keep(payloadKeyOf({ id: create.executionId, payloadSlot: slot }), create.payload.blob)
    }
  }
  putFlow(tx, flow)
  tx.emit('follow_up_set', flowSubject(flow), {})
  return undefined
}

/** Drops a pending follow-up. Returns whether there was one. The caller puts the flow. */
export function dropFlowFollowUp(tx: Tx, flow: Flow, by: string, reason: string): boolean {
  if (flow.followUp === undefined) return false
  forgetFollowUp(tx, flow, flow.followUp)
  tx.emit('follow_up_dropped', flowSubject(flow), { by, reason })
  return true
}

/** Creates the members and edges of a follow-up that has begun, as far as there is room. The flow is held until the last one. */
export function continueGraph(tx: Tx, flow: Flow): void {
  const pending = flow.begins
  if (pending === undefined) return tx.fault('a flow has no graph to create', flow.id)
  const part = nextPart(tx, flow, pending)
  const untouched = { ...flow }
  const graph = newGraph(flow)
  const refusal = addNodes(tx, graph, part.nodes) ?? checkEdges(tx, graph, part.edges)
  if (refusal !== undefined) {
    const cancel = { policy: 'cancel_all', reason: refusal.code, by: BY_FLOW, force: true, graceMs: 0 } as const
    beginCancel(tx, untouched, cancel)
    return
  }
  const isWhole =
    flow.memberCount + part.nodes.length === pending.nodes.length && flow.edgeCount === pending.edges.length
  if (isWhole) flow.begins = undefined
  writeGraph(tx, graph, part.nodes, isWhole)
}

/** Returns a flow that gives way as the follow-up that is about to begin, and any other flow unchanged. */
export function withFollowUpBegun(flow: Flow): Flow {
  return flow.followUp !== undefined && isGivingWay(flow) ? flowAfter(flow.changedAt, flow, flow.followUp) : flow
}

/**
 * Checks a graph as its creation will, and that its lanes take submits now. Members of the present run do not stand in its
 * way. Writes nothing.
 */
function refuseGraph(tx: Tx, flow: Flow, { nodes, edges, ...input }: FollowUpInput): GraphRefusal | undefined {
  const isTaken = (id: string) => {
    const existing = tx.get('execution', id)
    return existing !== undefined && existing.removed === undefined && existing.member?.flowId !== flow.id
  }
  const creates = nodes.map(({ create }) => create)
  return refuseHeldNodes(tx, nodes) ?? refuseQueues(tx, creates) ?? refuseBadGraph(tx, input, { nodes, edges }, isTaken)
}

/** Refuses a graph that could not be created as one flow, whenever that is. Writes nothing. */
export function refuseBadGraph(
  tx: Tx,
  input: FlowInput,
  { nodes, edges }: GraphPart,
  isTaken: (id: string) => boolean,
): GraphRefusal | undefined {
  const graph = newGraph(newFlow(tx.now, input, { phase: 'held', until: undefined }, undefined))
  const refusal =
    addNodes(tx, graph, nodes, isTaken) ?? refuseForeign(graph.byId, edges) ?? checkEdges(tx, graph, edges)
  if (refusal !== undefined || graph.flow.shortGroupCount === 0) return refusal
  return refused('unreachable_quorum', { flowId: input.flowId, nodes: shortNodes(graph) })
}

/** An edge from a member of the present run would lead from nothing. */
function refuseForeign(
  byId: Readonly<Record<string, Execution>>,
  edges: GraphPart['edges'],
): Refused<'execution_not_found'> | undefined {
  for (const { upstreamId, downstreamId } of edges) {
    for (const executionId of [upstreamId, downstreamId]) {
      if (byId[executionId] === undefined) return refused('execution_not_found', { executionId })
    }
  }
  return undefined
}

function forgetFollowUp(tx: Tx, flow: Flow, followUp: FlowFollowUp): void {
  const slot = nextFlowRun(flow)
  if (followUp.input !== undefined) tx.forget(flowInputKey({ id: flow.id, inputSlot: slot }))
  forgetPayloads(tx, followUp.nodes, slot)
  flow.followUp = undefined
  flow.pastRequests = withPastRequest(flow, followUp.requestId)
}

/** Returns the record of a flow whose follow-up begins: held, and without members. */
export function flowAfter(now: Instant, flow: Flow, followUp: FlowFollowUp): Flow {
  const { digest, input, nodes, edges, ...settings } = followUp
  const { id: flowId, key, namespace } = flow
  const submission = { digest, nodeCount: nodes.length, edgeCount: edges.length }
  const next = newFlow(now, { ...settings, flowId, key, namespace }, { phase: 'held', until: undefined }, submission)
  next.begins = { nodes, edges }
  next.run = nextFlowRun(flow)
  next.input = input
  next.inputSlot = input === undefined ? undefined : next.run
  next.pastRequests = withPastRequest(flow, flow.requestId)
  next.version = flow.version + 1
  return next
}
