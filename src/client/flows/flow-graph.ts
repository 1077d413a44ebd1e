/** From a declared graph to what `submitFlow` takes: members with their ids and payloads, edges, and a digest of it all. */
import { createHash } from 'node:crypto'
import type { CreateInput, EdgeInput, ExecutionId, FlowId, NodeInput } from '../../kernel/index.ts'
import { EngineError } from '../../kernel/engine-error.ts'
import type { DeclaredGraph, DeclaredNode } from '../define/graph-builder.ts'
import { memberIdOf } from '../transport/ids.ts'
import { prepareSubmit } from '../executions/submit.ts'
import type { PreparedSubmit, SubmitSetting } from '../executions/submit.ts'

export interface PreparedNode {
  readonly input: NodeInput
  /** The bytes of its payload, if it has one. */
  readonly payload: Uint8Array | undefined
}

export interface PreparedGraph {
  /** In an order in which every edge leads forward. */
  readonly nodes: readonly PreparedNode[]
  readonly edges: readonly EdgeInput[]
}

/** What tells one flow from another besides its graph. */
interface FlowIdentity {
  readonly name: string
  readonly outcomeRule: string
}

export async function prepareGraph(
  graph: DeclaredGraph,
  flowId: FlowId,
  setting: SubmitSetting,
): Promise<PreparedGraph> {
  const nodes: PreparedNode[] = []
  const edges: EdgeInput[] = []
  const ids = new Map<string, ExecutionId>()
  for (const node of graph.nodes) {
    const id = memberIdOf(flowId, node.name)
    ids.set(node.name, id)
    const prepared = prepareNode(node, id, setting)
    // A wait for each node would cost more than most nodes do.
    nodes.push(prepared instanceof Promise ? await prepared : prepared)
    for (const { upstream, input } of node.edges) {
      const upstreamId = ids.get(upstream.node) ?? memberIdOf(flowId, upstream.node)
      edges.push({ upstreamId, downstreamId: id, hands: node.handsInputs ? { as: 'input', name: input } : undefined })
    }
  }
  return { nodes, edges }
}

/** The same for the same graph in every process. */
export function digestOf(graph: DeclaredGraph, prepared: PreparedGraph, identity: FlowIdentity): string {
  const hash = createHash('sha256').update(canonicalText([identity.name, identity.outcomeRule]))
  prepared.nodes.forEach(({ input, payload }, i) => {
    const node = graph.nodes[i]
    if (node !== undefined) hash.update(nodeText(node, input.create)).update(payload ?? '')
  })
  return hash.digest('hex')
}

type NodeToPrepare = Pick<DeclaredNode, 'name' | 'task' | 'input' | 'settings' | 'policy'>

/** Refusals of a node's input or settings name the node. A promise only if a schema has to be asked. */
export function prepareNode(
  node: NodeToPrepare,
  executionId: ExecutionId,
  setting: SubmitSetting,
): PreparedNode | Promise<PreparedNode> {
  const { name, task, input, settings, policy } = node
  const finish = (prepared: PreparedSubmit): PreparedNode => {
    return { input: { name, create: prepared.input, policy }, payload: prepared.blobs[0] }
  }
  try {
    const ids = { executionId, requestId: undefined }
    const prepared = prepareSubmit({ task, input, options: settings }, ids, setting)
    if (!(prepared instanceof Promise)) return finish(prepared)
    return prepared.then(finish, (error: unknown) => {
      throw refusalOf(name, error)
    })
  } catch (error) {
    throw refusalOf(name, error)
  }
}

function refusalOf(name: string, error: unknown): unknown {
  if (!(error instanceof EngineError)) return error
  const { message } = error.detail
  const text = message === undefined ? `It is that of node '${name}'.` : `Node '${name}': ${message}`
  return new EngineError(error.code, { ...error.detail, nodes: [name], message: text }, { cause: error })
}

/** Everything of a node but its id, which follows from its name, and its bytes, whose size stands in its settings. */
function nodeText(node: DeclaredNode, create: CreateInput): string {
  const { executionId: _id, ...settings } = create
  const edges = node.edges.map(({ upstream, input }) => [upstream.node, input])
  return canonicalText([node.name, settings, node.policy ?? null, edges, node.handsInputs])
}

/** The same text for the same value in every process, however its objects were put together. */
function canonicalText(value: unknown): string {
  return JSON.stringify(inOrder(value))
}

/** With the fields of all objects in the order of their names. */
function inOrder(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(inOrder)
  const object = value as Readonly<Record<string, unknown>>
  // Without what an ordinary object has by itself, so that no name means anything.
  const ordered = Object.create(null) as Record<string, unknown>
  for (const name of Object.keys(object).sort()) ordered[name] = inOrder(object[name])
  return ordered
}
