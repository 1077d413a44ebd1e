/**
 * Submits a graph. A graph that fits one operation is created, sealed and started by it. A larger one takes several
 * calls: the flow is held until the last of them, and any caller with the same content may continue it. `ifExists` and the
 * content decide how a repeated id is handled.
 */
import { registerQueue } from '../../lifecycle/queues.ts'
import { newExecution, storeExecution } from '../../lifecycle/new-execution.ts'
import type { CreateInput } from '../../lifecycle/new-execution.ts'
import { flowInputKey } from '../../model/blob-keys.ts'
import { flowSubject } from '../../model/events.ts'
import { edgeId, queueId } from '../../model/indexes.ts'
import { FLOW_EDGE_MAX, FLOW_MEMBER_MAX, IN_DEGREE_MAX, NAMED_MEMBER_MAX } from '../../limits.ts'
import type { EdgeTolerance, Execution, ExecutionId, Flow, FlowId, Handover, Instant } from '../../model/records.ts'
import { refused } from '../../results.ts'
import type { Refused } from '../../results.ts'
import type { BlobInput, Tx } from '../../tx.ts'
import { newFlow } from './create-flow.ts'
import type { FlowInput } from './create-flow.ts'
import { isShort } from '../../rules/edge-group.ts'
import type { PolicyInput } from '../../rules/edge-group.ts'
import { removeMembers } from '../../lifecycle/endings/remove-flow.ts'
import { countNew, putFlow, shiftCount } from '../../lifecycle/flow-counts.ts'
import { awaitingSubmission, enterSealed, extendHold } from '../../lifecycle/flow-phases.ts'
import { blockNew, waitForDependencies } from '../../lifecycle/phases.ts'
import { bucketOf, isFlowFinished, newWalk, publicFlowState } from '../../rules/flow-state.ts'
import type { PublicFlowState } from '../../rules/flow-state.ts'
import { walkFlow } from '../../lifecycle/flows/flow-walk.ts'
import { memberOf, nextRank } from '../../lifecycle/flows/rank-order.ts'
import {
  allowFailure,
  attachMember,
  countNewEdge,
  isAmbiguous,
  mayHandPayload,
  writeEdge,
} from '../../lifecycle/flows/attach-member.ts'
import type { Link } from '../../lifecycle/flows/attach-member.ts'

export interface NodeInput {
  readonly name: string
  readonly create: CreateInput
  readonly policy?: PolicyInput | undefined
  /** Whether the definition of the flow has a condition for it. */
  readonly hasCondition?: true | undefined
}

export interface EdgeInput {
  readonly upstreamId: ExecutionId
  readonly downstreamId: ExecutionId
  readonly hands?: Handover | undefined
  readonly onFailure?: EdgeTolerance | undefined
}

export interface SubmitFlowInput extends FlowInput {
  /** The digest of the whole graph. A second submission with the same digest joins the first. */
  readonly digest: string
  /** The input of the definition, if it has conditions. The call that creates the flow stores it. */
  readonly input?: BlobInput | undefined
  /** If absent, a submit of the same content joins, and one of other content is refused. */
  readonly ifExists?: FlowIfExists | undefined
  /** The size of the whole graph. */
  readonly nodeCount: number
  readonly edgeCount: number
  /** The nodes of this call, and how many precede them. Their order is such that every edge leads forward. */
  readonly nodesBefore: number
  readonly nodes: readonly NodeInput[]
  readonly edgesBefore: number
  readonly edges: readonly EdgeInput[]
}

/** What a submit of a flow does if its id exists, whatever its content. */
export type FlowIfExists = 'join' | 'reject' | 'replace'

export type SubmitFlowResult =
  | {
      /** `accepted`: the rest is missing, from the counts of the answer on. */
      readonly kind: 'submitted' | 'joined' | 'accepted'
      /** Set while the members of the flow that is replaced are being removed. The caller sends the same call again. */
      readonly isClearing?: true
      readonly flowId: FlowId
      readonly nodes: number
      readonly edges: number
      readonly state: PublicFlowState
      readonly at: Instant
    }
  | Refused<
      | 'flow_exists'
      | 'input_differs'
      | 'flow_in_progress'
      | 'execution_exists'
      | 'execution_not_found'
      | 'graph_limit_exceeded'
      | 'cycle_detected'
      | 'unreachable_quorum'
      | 'invalid_input'
    >

/** Members by id, as this call sees them. */
interface Graph {
  readonly flow: Flow
  readonly byId: Record<string, Execution>
  readonly touched: Execution[]
  readonly created: Execution[]
  /** Upstreams of earlier calls whose failure a new edge ignores. */
  readonly marked: Execution[]
  readonly links: Link[]
}

export function submitFlow(tx: Tx, input: SubmitFlowInput): SubmitFlowResult {
  const found = tx.get('flow', input.flowId)
  const answered = found === undefined ? undefined : answerExisting(found, input)
  if (answered !== undefined) return answered
  const tooLarge = refuseTooLarge(input)
  if (tooLarge !== undefined) return tooLarge
  const isReplaced = found !== undefined && isFlowFinished(found)
  if (isReplaced && isClearing(tx, found)) return { ...answer('accepted', found), nodes: 0, edges: 0, isClearing: true }
  const existing = isReplaced ? undefined : found
  const flow = existing ?? newSubmission(tx, input, found)
  // Earlier nodes are stored already, or missing: the caller continues from the counts of the answer.
  if (input.nodesBefore > flow.memberCount || input.edgesBefore > flow.edgeCount) return answer('accepted', flow)
  const graph: Graph = { flow, byId: {}, touched: [], created: [], marked: [], links: [] }
  const nodes = input.nodes.slice(flow.memberCount - input.nodesBefore)
  const edges = input.edges.slice(flow.edgeCount - input.edgesBefore)
  const refusal = addNodes(tx, graph, nodes) ?? checkEdges(tx, graph, edges)
  if (refusal !== undefined) return refusal
  const isWhole = flow.memberCount + nodes.length >= input.nodeCount && flow.edgeCount >= input.edgeCount
  if (isWhole && flow.shortGroupCount > 0) {
    return refused('unreachable_quorum', { flowId: flow.id, nodes: shortNodes(graph) })
  }

  const limit = tx.room()
  if (workOf(tx, graph) > limit) return refused('graph_limit_exceeded', { flowId: flow.id, limit })

  if (isReplaced && found.removedAt === undefined) tx.emit('flow_purged', flowSubject(found), {})
  if (isReplaced && found.input !== undefined) tx.forget(flowInputKey(found.id))
  if (existing === undefined) tx.emit('flow_created', flowSubject(flow), {})
  if (existing === undefined && input.input !== undefined) tx.keep(flowInputKey(flow.id), input.input.blob)
  writeGraph(tx, graph, nodes, isWhole)
  return answer(flow.state.phase === 'held' ? 'accepted' : 'submitted', flow)
}

function refuseTooLarge(input: SubmitFlowInput): Refused<'graph_limit_exceeded'> | undefined {
  if (input.nodeCount > FLOW_MEMBER_MAX) return refused('graph_limit_exceeded', { limit: FLOW_MEMBER_MAX })
  if (input.edgeCount > FLOW_EDGE_MAX) return refused('graph_limit_exceeded', { limit: FLOW_EDGE_MAX })
  return undefined
}

/** `replaced` is the finished flow whose id the new one takes. */
function newSubmission(tx: Tx, input: SubmitFlowInput, replaced: Flow | undefined): Flow {
  const submission = { digest: input.digest, nodeCount: input.nodeCount, edgeCount: input.edgeCount }
  const flow = newFlow(tx, input, awaitingSubmission(tx), submission)
  if (input.input !== undefined) flow.input = { size: input.input.size, encoding: input.input.encoding }
  if (replaced !== undefined) flow.version = replaced.version + 1
  return flow
}

/**
 * Answers a submit whose id exists. Returns undefined if the submit proceeds: it continues a submission in several calls,
 * or replaces a flow that has finished.
 */
function answerExisting(flow: Flow, input: SubmitFlowInput): SubmitFlowResult | undefined {
  const { submission, requestId } = flow
  const isLeaving = flow.walk?.purpose === 'remove'
  const isSame = !isLeaving && submission?.digest === input.digest
  if (isSame && requestId === input.requestId)
    return flow.state.phase === 'held' ? undefined : answer('submitted', flow)
  const exists = refused('flow_exists', { flowId: flow.id })
  switch (input.ifExists) {
    case undefined:
    case 'join':
      // A caller that joined another flow would wait for results of other nodes.
      if (isLeaving || submission === undefined || flow.name !== input.name) return exists
      if (isSame && flow.state.phase === 'held') return undefined
      return isSame || input.ifExists === 'join'
        ? answer('joined', flow)
        : refused('input_differs', { flowId: flow.id })
    case 'reject':
      return exists
    case 'replace':
      return isFlowFinished(flow) ? undefined : refused('flow_in_progress', { flowId: flow.id })
  }
}

/**
 * Removes what is left of a finished flow, as far as there is room. Returns whether this call removed anything or could
 * not: the next one has room for the graph. Until then the flow keeps its record, so that its id stays taken.
 */
function isClearing(tx: Tx, flow: Flow): boolean {
  if (flow.removedAt !== undefined) return false
  const removed: Execution[] = []
  const isCleared = removeMembers(tx, flow, removed)
  return !isCleared || removed.length > 0
}

/** Creates the members of this call. Writes nothing. */
function addNodes(tx: Tx, graph: Graph, nodes: readonly NodeInput[]): Refused<'execution_exists'> | undefined {
  const flow = graph.flow
  for (let i = 0; i < nodes.length; i++) {
    const node = nodes[i]
    if (node === undefined) break
    const id = node.create.executionId
    if (graph.byId[id] !== undefined || tx.has('execution', id)) return refused('execution_exists', { executionId: id })
    const execution = newExecution(tx, node.create, 0)
    attachMember(tx, flow, execution, {
      name: node.name,
      rank: nextRank(flow.memberCount + i),
      policy: node.policy,
      hasCondition: node.hasCondition,
    })
    graph.byId[id] = execution
    graph.created.push(execution)
  }
  return undefined
}

/** Counts the edges of this call in the groups of their downstreams. Writes nothing. */
function checkEdges(
  tx: Tx,
  graph: Graph,
  edges: readonly EdgeInput[],
): Refused<'execution_not_found' | 'graph_limit_exceeded' | 'cycle_detected' | 'invalid_input'> | undefined {
  const pairs: Record<string, boolean> = {}
  for (const edge of edges) {
    const upstream = find(tx, graph, edge.upstreamId)
    if (upstream === undefined) return refused('execution_not_found', { executionId: edge.upstreamId })
    const downstream = find(tx, graph, edge.downstreamId)
    if (downstream === undefined) return refused('execution_not_found', { executionId: edge.downstreamId })
    const above = memberOf(tx, upstream)
    const below = memberOf(tx, downstream)
    if (above.rank >= below.rank) return refused('cycle_detected', { path: [above.name, below.name] })
    const id = edgeId(upstream.id, downstream.id)
    if (pairs[id] === true || (graph.flow.memberCount > 0 && tx.has('edge', id))) {
      return refused('invalid_input', { nodes: [above.name, below.name] })
    }
    pairs[id] = true
    const link: Link = { flow: graph.flow, upstream, downstream, hands: edge.hands, onFailure: edge.onFailure }
    if (isAmbiguous(link)) return refused('invalid_input', { nodes: [below.name] })
    const group = countNewEdge(tx, link)
    graph.links.push(link)
    if (allowFailure(tx, link) && !graph.created.includes(upstream)) graph.marked.push(upstream)
    if (group.total > IN_DEGREE_MAX) {
      return refused('graph_limit_exceeded', { limit: IN_DEGREE_MAX, nodes: [below.name] })
    }
    if (!mayHandPayload(group, group.need, below.payloadEdgeCount)) {
      return refused('invalid_input', { nodes: [below.name] })
    }
    if (!graph.created.includes(downstream) && !graph.touched.includes(downstream)) graph.touched.push(downstream)
  }
  return undefined
}

function find(tx: Tx, graph: Graph, id: ExecutionId): Execution | undefined {
  const known = graph.byId[id]
  if (known !== undefined) return known
  const stored = tx.get('execution', id)
  if (stored === undefined || stored.member?.flowId !== graph.flow.id) return undefined
  graph.byId[id] = stored
  return stored
}

/** Returns how many records this call would put. */
function workOf(tx: Tx, graph: Graph): number {
  const queues: Record<string, boolean> = {}
  let work = graph.created.length + graph.touched.length + graph.marked.length + graph.links.length + 1
  for (const execution of graph.created) {
    const id = queueId(execution.lane, execution.class)
    if (queues[id] === true) continue
    queues[id] = true
    if (!tx.has('queue', id)) work = work + 1
  }
  return work
}

function shortNodes(graph: Graph): string[] {
  const names: string[] = []
  for (const execution of graph.created) {
    const member = execution.member
    if (isShort(execution) && names.length < NAMED_MEMBER_MAX) names.push(member?.name ?? '')
  }
  return names
}

function writeGraph(tx: Tx, graph: Graph, nodes: readonly NodeInput[], isWhole: boolean): void {
  const flow = graph.flow
  // Members of a graph in one call get their final state at once; those of several calls are released by a walk.
  const isAtOnce = isWhole && flow.memberCount === 0
  // Edges come first: an upstream may have ended, and its edge is then counted in a member that is written next.
  for (const link of graph.links) writeEdge(tx, link)
  for (let i = 0; i < graph.created.length; i++) {
    const execution = graph.created[i]
    const node = nodes[i]
    if (execution === undefined || node === undefined) break
    blockUnlessRunnable(execution, isAtOnce)
    registerQueue(tx, execution)
    storeExecution(tx, execution, node.create)
    tx.emit('execution_created', execution, { until: delayUntil(execution) })
    countNew(flow, execution)
  }
  for (const execution of graph.marked) tx.put(execution)
  for (const execution of graph.touched) {
    const before = bucketOf(execution)
    // The member may have been cancelled or have expired before the rest of the graph arrived.
    waitForDependencies(execution)
    shiftCount(tx, flow, execution, before)
    tx.put(execution)
  }
  if (!isWhole) {
    extendHold(tx, flow)
    putFlow(tx, flow)
    return
  }
  enterSealed(tx, flow)
  if (isAtOnce) {
    putFlow(tx, flow)
    return
  }
  flow.walk = newWalk('release')
  walkFlow(tx, flow)
}

/** Blocks a new member, except a root of a graph that is complete. */
function blockUnlessRunnable(execution: Execution, mayRun: boolean): void {
  const isRoot = (execution.member?.group?.total ?? 0) === 0
  if (!isRoot) blockNew(execution, 'dependencies')
  else if (!mayRun) blockNew(execution, 'hold')
}

function delayUntil(execution: Execution): Instant | undefined {
  const state = execution.state
  return state.phase === 'delayed' ? state.until : execution.member?.delay?.until
}

function answer(kind: 'submitted' | 'joined' | 'accepted', flow: Flow): Exclude<SubmitFlowResult, Refused> {
  return {
    kind,
    flowId: flow.id,
    nodes: flow.memberCount,
    edges: flow.edgeCount,
    state: publicFlowState(flow),
    at: flow.createdAt,
  }
}
