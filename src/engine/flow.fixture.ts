/** Flows for the tests of this folder: a graph in a few words, and short ways to move its members. */
import { RETENTION_DEFAULT_MS } from '../kernel/index.ts'
import type {
  EdgeInput,
  Execution,
  ExecutionId,
  Flow,
  FlowId,
  NodeInput,
  OperationInput,
  PolicyInput,
} from '../kernel/index.ts'
import { executionPartition } from '../stores/store.ts'
import type { Partition } from '../stores/store.ts'
import { plainWish } from './engine.fixture.ts'
import type { World } from './engine.fixture.ts'

/** The upstreams of a node by name, and how they are judged. Nodes stand in an order in which every edge leads forward. */
export interface Node {
  readonly after?: readonly string[]
  readonly policy?: PolicyInput
}

export type Graph = Readonly<Record<string, Node>>

export interface Submitted {
  readonly flowId: FlowId
  readonly partition: Partition
  readonly idOf: (name: string) => ExecutionId
}

/** Nodes or edges of one call. */
const CHUNK_COUNT = 45

/** As many names as are asked for, such as `leaf-7`. */
export function names(stem: string, count: number): string[] {
  return Array.from({ length: count }, (_, i) => `${stem}-${i}`)
}

/** Many nodes that are alike. */
export function many(stem: string, count: number, node: Node = {}): Graph {
  return Object.fromEntries(names(stem, count).map((name) => [name, node]))
}

interface SubmitWish {
  readonly namespace?: string
  readonly partition?: number
  readonly retentionMs?: number
  /** Leaves the submission at so many nodes, as if its caller had died. */
  readonly onlyNodes?: number
}

export async function submitFlow(world: World, graph: Graph, wish: SubmitWish = {}): Promise<Submitted> {
  const { namespace = 'default', partition: number = 0, retentionMs = RETENTION_DEFAULT_MS } = wish
  const partition = executionPartition(number)
  const ids = new Map(Object.keys(graph).map((name) => [name, `${number}-${world.runtime.uuid()}` as ExecutionId]))
  const idOf = (name: string): ExecutionId => ids.get(name) ?? failed(`There is no node ${name}.`)
  const nodes = Object.entries(graph).map(([name, { policy }]): NodeInput => ({
    name,
    create: { ...plainWish(idOf(name)), namespace },
    policy,
  }))
  const edges = Object.entries(graph).flatMap(([name, { after = [] }]) =>
    after.map((upstream): EdgeInput => ({ upstreamId: idOf(upstream), downstreamId: idOf(name) })),
  )
  const flowId = `f${number}-${world.runtime.uuid()}` as FlowId
  const send = async (part: Pick<OperationInput<'submitFlow'>, 'nodes' | 'edges' | 'nodesBefore' | 'edgesBefore'>) => {
    const whole = { flowId, requestId: `request of ${flowId}`, namespace, name: 'graph', tags: [], retentionMs }
    const counts = { digest: `digest of ${flowId}`, nodeCount: nodes.length, edgeCount: edges.length }
    const input = { ...whole, outcomeRule: 'all_members' as const, ...counts, ...part }
    const { result } = await world.batcher.run(partition, 'submitFlow', input)
    if (result.kind === 'refused') failed(`The flow was refused: ${result.code}.`)
  }
  const isSmall = nodes.length <= CHUNK_COUNT && edges.length <= CHUNK_COUNT
  if (isSmall && wish.onlyNodes === undefined) {
    await send({ nodes, edges, nodesBefore: 0, edgesBefore: 0 })
    return { flowId, partition, idOf }
  }
  for (let i = 0; i < (wish.onlyNodes ?? nodes.length); i += CHUNK_COUNT) {
    await send({ nodes: nodes.slice(i, i + CHUNK_COUNT), edges: [], nodesBefore: i, edgesBefore: 0 })
  }
  for (let i = 0; i < edges.length && wish.onlyNodes === undefined; i += CHUNK_COUNT) {
    await send({ nodes: [], edges: edges.slice(i, i + CHUNK_COUNT), nodesBefore: nodes.length, edgesBefore: i })
  }
  return { flowId, partition, idOf }
}

function failed(message: string): never {
  throw new Error(message)
}

/** Completes the eligible executions of the lane, and returns their number. */
export async function completeReady(world: World, partition = 0): Promise<number> {
  const claimed = await world.claim('main', partition)
  for (const one of claimed) await world.complete(one)
  return claimed.length
}

/** The only execution that is ready fails for good. */
export async function failReady(world: World): Promise<void> {
  const [held] = await world.claim()
  if (held === undefined) failed('Nothing is ready.')
  const { executionId, fence } = held
  const failure = { category: 'permanent', message: 'no luck' }
  await world.batcher.run('fp:0', 'failExecution', { executionId, fence, failure, seed: 1 })
}

export async function cancelFlow(world: World, { flowId, partition }: Submitted): Promise<void> {
  const wish = { flowId, policy: 'cancel_all' as const, reason: 'enough', by: 'operator', force: true, graceMs: 0 }
  await world.batcher.run(partition, 'cancelFlow', wish)
}

export async function flowRecord(world: World, { flowId, partition }: Submitted): Promise<Flow> {
  const { records } = await world.store.dump(partition)
  return records.find((record) => record.type === 'flow' && record.id === flowId) as Flow
}

export async function memberRecord(world: World, flow: Submitted, name: string): Promise<Execution> {
  const { records } = await world.store.dump(flow.partition)
  return records.find((record) => record.type === 'execution' && record.id === flow.idOf(name)) as Execution
}

/** The number of members in each public state that occurs. */
export async function countsOf(world: World, flow: Submitted): Promise<Record<string, number>> {
  const { counts } = await flowRecord(world, flow)
  return Object.fromEntries(
    Object.entries(counts as unknown as Record<string, number>).filter(([, count]) => count > 0),
  )
}

/** Every scanner off but one. */
export function only(scanner: string, everyMs: number): Record<string, number> {
  return { ...Object.fromEntries(allScanners.map((name) => [name, 0])), [scanner]: everyMs }
}

const allScanners = [
  'due',
  'retention_trimmer',
  'index_reconciler',
  'dependency_reconciler',
  'edge_cancel_reconciler',
  'cancel_reconciler',
  'flow_projector',
  'worker_sweep',
  'lane_copier',
  'excess_trimmer',
  'quota_reconciler',
  'budget_reconciler',
  'unblock',
]
