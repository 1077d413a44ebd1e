/** Builds the input of `submitFlow` from a declared graph: members with ids and payloads, edges, and a digest. */
import { createHash } from 'node:crypto'
import { PAYLOAD_BYTES } from '../../kernel/index.ts'
import type { CreateInput, EdgeInput, ExecutionId, FlowId, NodeInput } from '../../kernel/index.ts'
import { EngineError } from '../../kernel/engine-error.ts'
import type { DeclaredGraph, DeclaredNode } from '../define/graph-builder.ts'
import { memberIdOf } from '../transport/ids.ts'
import { storedInputName, storedNodeName } from '../checks/hashed-names.ts'
import { encodeValue } from '../checks/payload.ts'
import type { EncodedValue } from '../checks/payload.ts'
import { prepareSubmit } from '../executions/submit.ts'
import type { InputDigests } from '../executions/input-digest.ts'
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
  /** The input of the definition, if it has conditions: workers draw the graph again to evaluate them. */
  readonly input: EncodedValue | undefined
}

/** The parts of a flow's identity besides its graph. */
interface FlowIdentity {
  readonly name: string
  readonly outcomeRule: string
}

export async function prepareGraph(
  graph: DeclaredGraph,
  flowId: FlowId,
  setting: SubmitSetting,
  input: unknown,
): Promise<PreparedGraph> {
  const nodes: PreparedNode[] = []
  const edges: EdgeInput[] = []
  const ids = new Map<string, ExecutionId>()
  for (const node of graph.nodes) {
    const id = memberIdOf(flowId, node.name)
    ids.set(node.name, id)
    const prepared = prepareNode(node, id, setting)
    // Awaiting every node would cost more than preparing most of them.
    nodes.push(prepared instanceof Promise ? await prepared : prepared)
    for (const { upstream, input, onFailure } of node.edges) {
      const upstreamId = ids.get(upstream.node) ?? memberIdOf(flowId, upstream.node)
      const hands = node.passesInputs ? ({ as: 'input', name: storedInputName(input) } as const) : undefined
      edges.push({ upstreamId, downstreamId: id, hands, onFailure })
    }
  }
  const hasConditions = graph.nodes.some(({ when }) => when !== undefined)
  return {
    nodes,
    edges,
    input: hasConditions
      ? encodeValue(input, 'input', Math.max(PAYLOAD_BYTES, setting.codec?.maxBytes ?? 0))
      : undefined,
  }
}

/** Hashes a graph with its inputs. The same graph has the same digest in every process. */
export function digestOf(
  graph: DeclaredGraph,
  prepared: PreparedGraph,
  identity: FlowIdentity,
  codec: InputDigests | undefined,
): string {
  const shown = (bytes: Uint8Array) => codec?.digest(bytes) ?? bytes
  const hash = createHash('sha256').update(canonicalText([identity.name, identity.outcomeRule]))
  prepared.nodes.forEach(({ input, payload }, i) => {
    const node = graph.nodes[i]
    if (node !== undefined)
      hash.update(nodeText(node, input.create)).update(payload === undefined ? '' : shown(payload))
  })
  if (prepared.input !== undefined) hash.update(shown(prepared.input.bytes))
  return hash.digest('hex')
}

type NodeToPrepare = Pick<DeclaredNode, 'name' | 'task' | 'input' | 'settings' | 'policy'> &
  Partial<Pick<DeclaredNode, 'when'>>

/** Prepares one node. Errors name the node. Returns a promise only if the task has a schema. */
export function prepareNode(
  node: NodeToPrepare,
  executionId: ExecutionId,
  setting: SubmitSetting,
): PreparedNode | Promise<PreparedNode> {
  const { task, input, settings, policy, when } = node
  const name = storedNodeName(node.name)
  const hasCondition = when === undefined ? undefined : true
  const finish = (prepared: PreparedSubmit): PreparedNode => {
    return { input: { name, create: prepared.input, policy, hasCondition }, payload: prepared.blobs[0] }
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
  const text = message === undefined ? `Rejected input of node '${name}'.` : `Node '${name}': ${message}`
  return new EngineError(error.code, { ...error.detail, nodes: [name], message: text }, { cause: error })
}

/** Serializes a node without its id, which follows from its name, its span, and its bytes, which are hashed separately. */
function nodeText(node: DeclaredNode, create: CreateInput): string {
  const { executionId: _id, trace: _trace, ...settings } = create
  // What a graph does not use adds nothing, so that the digest of such a graph is that of earlier versions.
  const edges = node.edges.map(({ upstream, input, onFailure }) => {
    return onFailure === undefined ? [upstream.node, input] : [upstream.node, input, onFailure]
  })
  const condition = node.when === undefined ? [] : ['condition']
  // Part of the text that earlier versions hashed: a flow that they submitted keeps its digest.
  const hashed = { ...settings, ifExists: 'join' }
  return canonicalText([node.name, hashed, node.policy ?? null, edges, node.passesInputs, ...condition])
}

/** Serializes a value with sorted keys: equal values have equal texts in every process. */
function canonicalText(value: unknown): string {
  return JSON.stringify(withSortedKeys(value))
}

function withSortedKeys(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(withSortedKeys)
  const object = value as Readonly<Record<string, unknown>>
  // No prototype, so that names such as __proto__ are ordinary keys.
  const ordered = Object.create(null) as Record<string, unknown>
  for (const name of Object.keys(object).sort()) ordered[name] = withSortedKeys(object[name])
  return ordered
}
