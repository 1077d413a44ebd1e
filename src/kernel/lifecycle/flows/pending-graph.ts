/** A graph that waits in a record, as that of a follow-up or a schedule, and its way back to nodes and edges. */
import { payloadKeyOf } from '../../model/blob-keys.ts'
import { FOLLOW_UP_RESERVE } from '../../limits.ts'
import type { Flow, PendingEdge, PendingGraph, PendingNode } from '../../model/records.ts'
import type { Tx } from '../../tx.ts'
import { blobInfo } from '../new-execution.ts'
import type { CreateInput } from '../new-execution.ts'
import type { EdgeInput, NodeInput } from './new-graph.ts'

/** A graph, or a part of one. */
export interface GraphPart {
  readonly nodes: readonly NodeInput[]
  readonly edges: readonly EdgeInput[]
}

/** Records that one node may put: itself, its queue, and the share of its key. */
const NODE_WORK = 3
/** Records that one edge may put: itself and both of its ends. */
const EDGE_WORK = 3

/** The part of a submit that a node stores; the rest is that of its flow, with which it is removed, or stored as bytes. */
type NodeSettings = Omit<CreateInput, 'namespace' | 'payload' | 'ifExists' | 'schedule' | 'retentions' | 'shaping'>

/** Every setting by its name, so that the compiler reports one that a node would lose. */
type AllSettings = { readonly [K in keyof Required<NodeSettings>]: NodeSettings[K] }

export function pendingGraphOf({ nodes, edges }: GraphPart): PendingGraph {
  const positions: Record<string, number> = {}
  nodes.forEach((node, i) => (positions[node.create.executionId] = i))
  return { nodes: nodes.map(pendingNodeOf), edges: edges.map((edge) => pendingEdgeOf(edge, positions)) }
}

function pendingNodeOf({ name, create, policy, hasCondition }: NodeInput): PendingNode {
  const settings: AllSettings = {
    executionId: create.executionId,
    key: create.key,
    requestId: create.requestId,
    task: create.task,
    version: create.version,
    lane: create.lane,
    class: create.class,
    priority: create.priority,
    tags: create.tags,
    retry: create.retry,
    delayMs: create.delayMs === undefined ? undefined : Math.max(0, create.delayMs),
    attemptTimeoutMs: create.attemptTimeoutMs,
    totalTimeoutMs: create.totalTimeoutMs,
    compensationTimeoutMs: create.compensationTimeoutMs,
    retentionMs: create.retentionMs,
    dedupeMs: create.dedupeMs,
    digest: create.digest,
    needs: create.needs,
    fairness: create.fairness,
    limits: create.limits,
    trace: create.trace,
  }
  return {
    ...settings,
    tags: [...create.tags],
    name,
    policy: policy && { policy: policy.policy, need: policy.need, losers: policy.losers },
    hasCondition: hasCondition === true,
    payload: blobInfo(create.payload),
  }
}

function pendingEdgeOf(edge: EdgeInput, positions: Readonly<Record<string, number>>): PendingEdge {
  const { upstreamId, downstreamId, hands, onFailure } = edge
  return {
    upstream: positions[upstreamId] ?? 0,
    downstream: positions[downstreamId] ?? 0,
    hands: hands?.as === 'input' ? { as: 'input', name: hands.name } : hands && { as: 'payload' },
    onFailure,
  }
}

/** Returns what is created next: all that is left if there is room for it, else nodes, and edges once every node exists. */
export function nextPart(tx: Tx, flow: Flow, pending: PendingGraph): GraphPart {
  const room = tx.room() - FOLLOW_UP_RESERVE
  const nodes = pending.nodes.slice(flow.memberCount)
  const edges = pending.edges.slice(flow.edgeCount)
  const isAll = nodes.length * NODE_WORK + edges.length * EDGE_WORK <= room
  const nodeLimit = isAll ? nodes.length : Math.max(1, Math.floor(room / NODE_WORK))
  const edgeLimit = isAll ? edges.length : nodes.length > 0 ? 0 : Math.max(1, Math.floor(room / EDGE_WORK))
  return {
    nodes: nodes.slice(0, nodeLimit).map((node) => nodeInputOf(flow, node)),
    edges: edges.slice(0, edgeLimit).map((edge) => edgeInputOf(tx, pending, edge)),
  }
}

function nodeInputOf(flow: Flow, node: PendingNode): NodeInput {
  const { name, policy, hasCondition, payload, ...create } = node
  return {
    name,
    create: { ...create, namespace: flow.namespace, schedule: flow.schedule },
    policy,
    hasCondition: hasCondition ? true : undefined,
    stored: { payload, slot: flow.run },
  }
}

function edgeInputOf(tx: Tx, { nodes }: PendingGraph, edge: PendingEdge): EdgeInput {
  const { upstream, downstream, hands, onFailure } = edge
  const [from, to] = [nodes[upstream], nodes[downstream]]
  if (from === undefined || to === undefined) return tx.fault('an edge of a pending graph has no such end', '')
  return { upstreamId: from.executionId, downstreamId: to.executionId, hands, onFailure }
}

/** Forgets the payloads of nodes that wait for the run of this number. */
export function forgetPayloads(tx: Tx, nodes: readonly PendingNode[], slot: number | undefined): void {
  for (const { executionId, payload } of nodes) {
    if (payload !== undefined) tx.forget(payloadKeyOf({ id: executionId, payloadSlot: slot }))
  }
}

/** Gives up the rest of a graph. The caller puts the flow. */
export function dropPendingGraph(tx: Tx, flow: Flow): void {
  if (flow.begins === undefined) return
  forgetPayloads(tx, flow.begins.nodes.slice(flow.memberCount), flow.run)
  flow.begins = undefined
}
