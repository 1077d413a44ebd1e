/** Builders of flows: a test writes a graph as names and what each of them waits for; everything else is ordinary. */
import { BATCH_WORK_LIMIT, DUE_INDEX, FLOW_ATOMIC_NODE_MAX } from '../../src/kernel/index.ts'
import type {
  CreateFlowInput,
  DueCaseName,
  EdgeInput,
  ExecutionId,
  FlowId,
  NodeInput,
  PolicyInput,
  SubmitFlowInput,
} from '../../src/kernel/index.ts'
import type { TestFabric } from './fabric.ts'
import { RETENTION_MS } from './given.ts'
import type { Draft, Given } from './given.ts'
import { Graph, handoverOf, toleranceOf, upstreamName } from './graph.ts'
import type { Upstream } from './graph.ts'

/** Nodes in an order in which every edge leads forward, each with what it waits for. */
export type Shape = Readonly<Record<string, readonly Upstream[]>>

export interface GraphOptions {
  readonly policies?: Readonly<Record<string, PolicyInput>>
  /** Nodes whose condition decides whether they run. */
  readonly conditions?: readonly string[]
  readonly drafts?: Readonly<Record<string, Draft>>
  /** One class for all nodes, for graphs whose members are not claimed by name. */
  readonly class?: string
  readonly flow?: Partial<SubmitFlowInput>
}

/** A graph that has not been submitted. */
export interface Drawing {
  readonly graph: Graph
  /** The calls that submit it, in the order in which they are sent. */
  readonly calls: readonly SubmitFlowInput[]
  readonly blobs: readonly Uint8Array[]
}

/** Nodes or edges that go into one of several calls. */
const CHUNK_COUNT = 90
/** The same for edges that ignore a failure: each also writes its upstream. */
const IGNORING_CHUNK_COUNT = 60
/** Due passes after which a partition that is still not at rest never will be. */
const DRAIN_LIMIT = 500

export const anyOf: PolicyInput = { policy: 'any_of' }
export const anyOfLettingRun: PolicyInput = { policy: 'any_of', losers: 'let_run' }

export function quorum(need: number, losers: 'cancel' | 'let_run' = 'cancel'): PolicyInput {
  return { policy: 'quorum', need, losers }
}

export function input(from: string, name = from): Upstream {
  return { from, hands: { as: 'input', name } }
}

/** An upstream whose end is enough, and whose outcome is an input. */
export function tolerated(from: string, onFailure: 'continue' | 'ignore' = 'continue'): Upstream {
  return { from, hands: { as: 'input', name: from }, onFailure }
}

export const ended: PolicyInput = { policy: 'ended' }

export function payload(from: string): Upstream {
  return { from, hands: { as: 'payload' } }
}

/** `<prefix>0`, `<prefix>1` and so on. */
export function names(prefix: string, count: number): string[] {
  return Array.from({ length: count }, (_, i) => `${prefix}${i}`)
}

/** Nodes that all wait for the same. */
export function nodes(of: readonly string[], after: readonly Upstream[] = []): Shape {
  return Object.fromEntries(of.map((name) => [name, after]))
}

/** A chain: each waits for the one before. */
export function chain(of: readonly string[]): Shape {
  return Object.fromEntries(of.map((name, i) => [name, of.slice(Math.max(0, i - 1), i)]))
}

export class GivenFlow {
  readonly #fabric: TestFabric
  readonly #given: Given
  #graphCount = 0

  constructor(fabric: TestFabric, given: Given) {
    this.#fabric = fabric
    this.#given = given
  }

  newId(): FlowId {
    return `f0-${this.#fabric.runtime.uuid()}` as FlowId
  }

  createInput(changes: Partial<CreateFlowInput> = {}): CreateFlowInput {
    return {
      flowId: this.newId(),
      requestId: this.#given.requestId(),
      namespace: 'default',
      name: 'release',
      tags: [],
      outcomeRule: 'all_members',
      retentionMs: RETENTION_MS,
      hold: false,
      ...changes,
    }
  }

  /** A flow that takes members, with some that wait for nothing. */
  async open(members: readonly string[] = [], changes: Partial<CreateFlowInput> = {}): Promise<Graph> {
    const flow = this.createInput(changes)
    await this.#fabric.run('createFlow', flow)
    const graph = this.#newGraph(flow.flowId, new Map(), undefined)
    for (const name of members) await graph.add(name)
    return graph
  }

  /** A flow that takes members, of which none runs before it is sealed. */
  held(members: readonly string[] = [], changes: Partial<CreateFlowInput> = {}): Promise<Graph> {
    return this.open(members, { hold: true, ...changes })
  }

  draw(shape: Shape, options: GraphOptions = {}): Drawing {
    const ids = new Map(Object.keys(shape).map((name) => [name, this.#given.newId()]))
    const graph = this.#newGraph(options.flow?.flowId ?? this.newId(), ids, options.class)
    const blobs: Uint8Array[] = []
    const members = Object.keys(shape).map((name) => this.#node(graph, name, options, blobs))
    const edges = Object.entries(shape).flatMap(([name, after]) =>
      after.map((from): EdgeInput => {
        const ends = { upstreamId: graph.id(upstreamName(from)), downstreamId: graph.id(name) }
        return { ...ends, hands: handoverOf(from), onFailure: toleranceOf(from) }
      }),
    )
    const { hold: _, ...flow } = this.createInput({ flowId: graph.flowId })
    const whole: SubmitFlowInput = {
      ...flow,
      digest: 'first',
      nodeCount: members.length,
      edgeCount: edges.length,
      nodesBefore: 0,
      nodes: members,
      edgesBefore: 0,
      edges,
      ...options.flow,
    }
    return { graph, calls: callsOf(whole), blobs }
  }

  /** A submitted graph: whole, sealed, and at rest with its roots in their queues. */
  async graph(shape: Shape, options: GraphOptions = {}): Promise<Graph> {
    const { graph, calls, blobs } = this.draw(shape, options)
    for (const call of calls) {
      const result = await this.#fabric.run('submitFlow', call, blobs)
      if (result.kind === 'refused') throw new Error(`the test's graph was refused: ${result.code}`)
    }
    if (calls.length > 1) await this.drain()
    return graph
  }

  /** Does everything that is due now, until nothing is. Returns what was done. */
  async drain(): Promise<DueCaseName[]> {
    const handled: DueCaseName[] = []
    for (let pass = 0; pass < DRAIN_LIMIT; pass++) {
      const result = await this.#fabric.duePass()
      handled.push(...result.handled.map((item) => item.case))
      if (result.next === undefined) return handled
    }
    throw new Error('there is always something due')
  }

  /** What has work to do by itself, now or later. */
  async due(): Promise<string[]> {
    const { entries } = await this.#fabric.dump()
    return entries.filter((entry) => entry.index === DUE_INDEX).map((entry) => entry.id)
  }

  #newGraph(flowId: FlowId, ids: Map<string, ExecutionId>, className: string | undefined): Graph {
    this.#graphCount = this.#graphCount + 1
    const suffix = `@${this.#graphCount}`
    return new Graph(this.#fabric, this.#given, flowId, ids, (name) => className ?? name + suffix)
  }

  #node(graph: Graph, name: string, options: GraphOptions, blobs: Uint8Array[]): NodeInput {
    const { bytes, ...draft } = options.drafts?.[name] ?? {}
    const create = this.#given.createInput({ executionId: graph.id(name), class: graph.classOf(name), ...draft })
    const policy = options.policies?.[name]
    const hasCondition = options.conditions?.includes(name) === true ? true : undefined
    if (bytes === undefined) return { name, create, policy, hasCondition }
    const blob = blobs.push(bytes) - 1
    return {
      name,
      create: { ...create, payload: { blob, size: bytes.byteLength, encoding: 'bytes' } },
      policy,
      hasCondition,
    }
  }
}

/** One call if the graph fits one; else its nodes in chunks, then its edges. */
function callsOf(whole: SubmitFlowInput): SubmitFlowInput[] {
  const queues = new Set(whole.nodes.map(({ create }) => create.class))
  const work = whole.nodes.length + whole.edges.length + queues.size + 1
  if (whole.nodes.length <= FLOW_ATOMIC_NODE_MAX && work <= BATCH_WORK_LIMIT) return [whole]
  return [...nodeCalls(whole), ...edgeCalls(whole)]
}

function nodeCalls(whole: SubmitFlowInput): SubmitFlowInput[] {
  return starts(whole.nodes.length).map((nodesBefore) => {
    return { ...whole, nodesBefore, nodes: whole.nodes.slice(nodesBefore, nodesBefore + CHUNK_COUNT), edges: [] }
  })
}

function edgeCalls(whole: SubmitFlowInput): SubmitFlowInput[] {
  const nodesBefore = whole.nodes.length
  const count = whole.edges.some(({ onFailure }) => onFailure === 'ignore') ? IGNORING_CHUNK_COUNT : CHUNK_COUNT
  return starts(whole.edges.length, count).map((edgesBefore) => {
    const edges = whole.edges.slice(edgesBefore, edgesBefore + count)
    return { ...whole, nodesBefore, nodes: [], edgesBefore, edges }
  })
}

function starts(count: number, chunk = CHUNK_COUNT): number[] {
  return Array.from({ length: Math.ceil(count / chunk) }, (_, i) => i * chunk)
}
