/**
 * Sends a graph: in one call if it fits, else in pieces, first all nodes and then all edges. Every reply returns the progress,
 * so a client that submits the same content resumes where the last one stopped.
 */
import {
  BATCH_BYTES,
  BATCH_WORK_LIMIT,
  FLOW_ATOMIC_NODE_MAX,
  SHARES_INDEX,
  readyIndex,
  shareId,
  turnScope,
} from '../../kernel/index.ts'
import type { EdgeInput, FlowInput, NodeInput, SubmitFlowInput, SubmitFlowResult } from '../../kernel/index.ts'
import { EngineError } from '../../kernel/engine-error.ts'
import type { PreparedGraph, PreparedNode } from './flow-graph.ts'

/** The progress of a submit in several calls. */
export interface FlowProgress {
  readonly nodes: number
  readonly edges: number
  readonly totalNodes: number
  readonly totalEdges: number
}

/** Nodes or edges per piece. Each may write its queue or its downstream too, within the work limit of one call. */
const PIECE_COUNT = 90
/** The same for edges if some of them ignore a failure, which is marked on their upstream. */
const IGNORING_PIECE_COUNT = 60
/** Bytes of payloads per call. A single payload may be larger. */
const PIECE_BYTES = 16 * BATCH_BYTES
/** Calls without progress after which the submit gives up. */
const IDLE_CALLS_MAX = 8

interface Piece {
  readonly nodes: readonly PreparedNode[]
  readonly edges: readonly EdgeInput[]
}

/** The last answer, and whether a finished flow was removed for it. */
export interface SentGraph {
  readonly result: SubmitFlowResult
  readonly isReplaced: boolean
}

type Send = (input: SubmitFlowInput, blobs: readonly Uint8Array[]) => Promise<SubmitFlowResult>

export async function sendGraph(
  flow: FlowInput & Pick<SubmitFlowInput, 'digest' | 'ifExists'>,
  graph: PreparedGraph,
  send: Send,
  onProgress: (progress: FlowProgress) => void,
): Promise<SentGraph> {
  const totalNodes = graph.nodes.length
  const totalEdges = graph.edges.length
  const { input: definitionInput } = graph
  const whole = { ...flow, nodeCount: totalNodes, edgeCount: totalEdges }
  let nodes = 0
  let edges = 0
  let isReplaced = false
  for (let idle = 0; idle < IDLE_CALLS_MAX; idle++) {
    const piece = isAtomic(graph) ? graph : nextPiece(graph, nodes, edges)
    const { inputs, blobs } = numberBlobs(piece.nodes)
    const part = { nodesBefore: nodes, nodes: inputs, edgesBefore: edges, edges: piece.edges }
    // The first call stores the input of the definition with the flow.
    const first = nodes === 0 && edges === 0 ? definitionInput : undefined
    const input = { ...whole, ...part, input: first && { ...first.input, blob: blobs.length } }
    if (first !== undefined) blobs.push(first.bytes)
    const result = await send(input, blobs)
    if (result.kind === 'refused') return { result, isReplaced }
    if (result.isClearing === true) {
      isReplaced = true
      idle = -1
    }
    onProgress({ nodes: result.nodes, edges: result.edges, totalNodes, totalEdges })
    if (result.kind !== 'accepted') return { result, isReplaced }
    if (result.nodes > nodes || result.edges > edges) idle = -1
    nodes = result.nodes
    edges = result.edges
  }
  throw new EngineError('store_unavailable', {
    flowId: flow.flowId,
    message: 'The submit of the flow makes no progress.',
  })
}

/** Whether one operation can create the graph, within the limits of records and bytes. */
function isAtomic({ nodes, edges }: PreparedGraph): boolean {
  if (nodes.length > FLOW_ATOMIC_NODE_MAX) return false
  const records = new Set<string>()
  let bytes = 0
  for (const { input, payload } of nodes) {
    addRecords(records, input)
    bytes += payload?.byteLength ?? 0
  }
  return records.size + edges.length + 1 <= BATCH_WORK_LIMIT && bytes <= PIECE_BYTES
}

/** Adds the names of the records that a node writes: its execution, its queue, and the share of its key. */
function addRecords(
  records: Set<string>,
  { create: { executionId, lane, class: className, priority, fairness } }: NodeInput,
): void {
  records.add(executionId)
  records.add(readyIndex(lane, className))
  if (fairness !== undefined) records.add(SHARES_INDEX + shareId(turnScope(lane, className, priority), fairness.key))
}

function nextPiece(graph: PreparedGraph, nodesBefore: number, edgesBefore: number): Piece {
  const nodes: PreparedNode[] = []
  const records = new Set<string>()
  let bytes = 0
  for (const node of graph.nodes.slice(nodesBefore, nodesBefore + PIECE_COUNT)) {
    bytes += node.payload?.byteLength ?? 0
    addRecords(records, node.input)
    if (nodes.length > 0 && (bytes > PIECE_BYTES || records.size >= BATCH_WORK_LIMIT)) break
    nodes.push(node)
  }
  if (nodes.length > 0) return { nodes, edges: [] }
  const edges = graph.edges.slice(edgesBefore, edgesBefore + PIECE_COUNT)
  const hasIgnored = edges.some(({ onFailure }) => onFailure === 'ignore')
  return { nodes, edges: hasIgnored ? edges.slice(0, IGNORING_PIECE_COUNT) : edges }
}

/** Numbers the payloads of a call in order. */
export function numberBlobs(nodes: readonly PreparedNode[]): {
  readonly inputs: readonly NodeInput[]
  readonly blobs: Uint8Array[]
} {
  const blobs: Uint8Array[] = []
  const inputs = nodes.map(({ input, payload }) => {
    const info = input.create.payload
    if (payload === undefined || info === undefined) return input
    blobs.push(payload)
    return { ...input, create: { ...input.create, payload: { ...info, blob: blobs.length - 1 } } }
  })
  return { inputs, blobs }
}
