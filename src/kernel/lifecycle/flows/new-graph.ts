/** Creates the members and edges of a graph: of one call of a submission, or of a follow-up that begins. */
import { enterQueue } from '../queues.ts'
import { newExecution, storeExecution } from '../new-execution.ts'
import type { CreateInput } from '../new-execution.ts'
import { edgeId, queueId, shareId, turnScope } from '../../model/indexes.ts'
import { IN_DEGREE_MAX, NAMED_MEMBER_MAX } from '../../limits.ts'
import type { BlobInfo, EdgeTolerance, Execution, ExecutionId, Flow, Handover, Instant } from '../../model/records.ts'
import { refused } from '../../results.ts'
import type { Refused } from '../../results.ts'
import type { Tx } from '../../tx.ts'
import { isShort } from '../../rules/edge-group.ts'
import type { PolicyInput } from '../../rules/edge-group.ts'
import { countNew, putFlow, shiftCount } from '../flow-counts.ts'
import { enterSealed, extendHold } from '../flow-phases.ts'
import { blockNew, waitForDependencies } from '../phases.ts'
import { bucketOf, newWalk } from '../../rules/flow-state.ts'
import { walkFlow } from './flow-walk.ts'
import { memberOf, nextRank } from './rank-order.ts'
import { allowFailure, attachMember, countNewEdge, isAmbiguous, mayHandPayload, writeEdge } from './attach-member.ts'
import type { Link } from './attach-member.ts'

export interface NodeInput {
  readonly name: string
  readonly create: CreateInput
  readonly policy?: PolicyInput | undefined
  /** Whether the definition of the flow has a condition for it. */
  readonly hasCondition?: true | undefined
  /** Set if the node has waited as part of a follow-up: its payload is stored already. */
  readonly stored?: { readonly payload: BlobInfo | undefined; readonly slot: number | undefined } | undefined
}

export interface EdgeInput {
  readonly upstreamId: ExecutionId
  readonly downstreamId: ExecutionId
  readonly hands?: Handover | undefined
  readonly onFailure?: EdgeTolerance | undefined
}

/** Members by id, as this call sees them. */
export interface Graph {
  readonly flow: Flow
  readonly byId: Record<string, Execution>
  readonly touched: Execution[]
  readonly created: Execution[]
  /** Upstreams of earlier calls whose failure a new edge ignores. */
  readonly marked: Execution[]
  readonly links: Link[]
}

export function newGraph(flow: Flow): Graph {
  return { flow, byId: {}, touched: [], created: [], marked: [], links: [] }
}

export type GraphRefusal = Refused<
  | 'execution_exists'
  | 'execution_not_found'
  | 'graph_limit_exceeded'
  | 'cycle_detected'
  | 'unreachable_quorum'
  | 'too_many_needs'
  | 'lane_draining'
  | 'lane_disabled'
  | 'invalid_input'
>

/** Creates the members of this call. Writes nothing. */
export function addNodes(
  tx: Tx,
  graph: Graph,
  nodes: readonly NodeInput[],
  isTaken = (id: string, node: NodeInput) => isIdTaken(tx, id, node),
): Refused<'execution_exists'> | undefined {
  const flow = graph.flow
  for (let i = 0; i < nodes.length; i++) {
    const node = nodes[i]
    if (node === undefined) break
    const id = node.create.executionId
    if (graph.byId[id] !== undefined || isTaken(id, node)) return refused('execution_exists', { executionId: id })
    const execution = newExecution(tx, node.create, 0)
    execution.run = flow.run
    if (node.stored !== undefined) {
      execution.payload = node.stored.payload
      execution.payloadSlot = node.stored.payload === undefined ? undefined : node.stored.slot
    }
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

/** Of a member that the earlier run of its flow had, the id may be kept. */
function isIdTaken(tx: Tx, id: string, { stored }: NodeInput): boolean {
  if (stored === undefined) return tx.has('execution', id)
  const existing = tx.get('execution', id)
  return existing !== undefined && existing.removed === undefined
}

/** Counts the edges of this call in the groups of their downstreams. Writes nothing. */
export function checkEdges(
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
export function workOf(tx: Tx, graph: Graph): number {
  const queues: Record<string, boolean> = {}
  const shares = new Set<string>()
  let work = graph.created.length + graph.touched.length + graph.marked.length + graph.links.length + 1
  for (const execution of graph.created) {
    if (execution.fair !== undefined)
      shares.add(shareId(turnScope(execution.lane, execution.class, execution.priority), execution.fair.key))
    const id = queueId(execution.lane, execution.class)
    if (queues[id] === true) continue
    queues[id] = true
    if (!tx.has('queue', id)) work = work + 1
  }
  return work + shares.size
}

export function shortNodes(graph: Graph): string[] {
  const names: string[] = []
  for (const execution of graph.created) {
    const member = execution.member
    if (isShort(execution) && names.length < NAMED_MEMBER_MAX) names.push(member?.name ?? '')
  }
  return names
}

export function writeGraph(tx: Tx, graph: Graph, nodes: readonly NodeInput[], isWhole: boolean): void {
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
    enterQueue(tx, execution)
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
