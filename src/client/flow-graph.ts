/** From a declared graph to what `submitFlow` takes: members with their ids and payloads, edges, and a digest of it all. */
import { createHash } from 'node:crypto'
import type { CreateInput, EdgeInput, ExecutionId, FlowId, NodeInput } from '../kernel/index.ts'
import { EngineError } from '../stores/engine-error.ts'
import type { DeclaredGraph, DeclaredNode } from './graph-builder.ts'
import { memberIdOf } from './ids.ts'
import { prepareSubmit } from './submit.ts'
import type { SubmitSetting } from './submit.ts'

export interface PreparedNode {
  readonly input: NodeInput
  /** The bytes of its payload, if it has one. */
  readonly payload: Uint8Array | undefined
}

export interface PreparedGraph {
  /** In an order in which every edge leads forward. */
  readonly nodes: readonly PreparedNode[]
  readonly edges: readonly EdgeInput[]
  readonly digest: string
}

/** What tells one flow from another besides its graph. */
interface FlowIdentity {
  readonly name: string
  readonly outcomeRule: string
}

export async function prepareGraph(
  graph: DeclaredGraph,
  flowId: FlowId,
  identity: FlowIdentity,
  setting: SubmitSetting,
): Promise<PreparedGraph> {
  const nodes: PreparedNode[] = []
  const edges: EdgeInput[] = []
  const ids = new Map<string, ExecutionId>()
  const hash = createHash('sha256').update(canonicalText([identity.name, identity.outcomeRule]))
  for (const node of graph.nodes) {
    const id = memberIdOf(flowId, node.name)
    ids.set(node.name, id)
    const prepared = await prepareNode(node, id, setting)
    nodes.push(prepared)
    for (const { upstream, input } of node.edges) {
      const upstreamId = ids.get(upstream.node) ?? memberIdOf(flowId, upstream.node)
      edges.push({ upstreamId, downstreamId: id, hands: node.handsInputs ? { as: 'input', name: input } : undefined })
    }
    hash.update(nodeText(node, prepared.input.create)).update(prepared.payload ?? '')
  }
  return { nodes, edges, digest: hash.digest('hex') }
}

/** Refusals of a node's input or settings name the node. */
export async function prepareNode(
  node: Pick<DeclaredNode, 'name' | 'task' | 'input' | 'settings' | 'policy'>,
  executionId: ExecutionId,
  setting: SubmitSetting,
): Promise<PreparedNode> {
  const { name, task, input, settings, policy } = node
  try {
    const ids = { executionId, requestId: undefined }
    const prepared = await prepareSubmit({ task, input, options: settings }, ids, setting)
    return { input: { name, create: prepared.input, policy }, payload: prepared.blobs[0] }
  } catch (error) {
    if (!(error instanceof EngineError)) throw error
    const { message } = error.detail
    const text = message === undefined ? `It is that of node '${name}'.` : `Node '${name}': ${message}`
    throw new EngineError(error.code, { ...error.detail, nodes: [name], message: text }, { cause: error })
  }
}

/** Everything of a node but its id, which follows from its name, and its bytes, whose size stands in its settings. */
function nodeText(node: DeclaredNode, create: CreateInput): string {
  const { executionId: _id, ...settings } = create
  const edges = node.edges.map(({ upstream, input }) => [upstream.node, input])
  return canonicalText([node.name, settings, node.policy ?? null, edges, node.handsInputs])
}

/** The same text for the same value in every process, however its objects were put together. */
function canonicalText(value: unknown): string {
  return JSON.stringify(value, (_key, part: unknown) =>
    typeof part === 'object' && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)))
      : part,
  )
}
