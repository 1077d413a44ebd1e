import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { virtualRuntime } from '../../../runtime/index.ts'
import { MemoryStore } from '../../../stores/memory/memory-store.ts'
import type { OperationInput, OperationName, OperationResult } from '../../operations.ts'
import type { ExecutionId, FlowId } from '../../model/records.ts'

const flowId = 'f0-graph' as FlowId

function idOf(node: number): ExecutionId {
  return `0-${String(node).padStart(3, '0')}` as ExecutionId
}

function nameOf(node: number): string {
  return `node ${node}`
}

/** A flow whose members are numbered, beside a plain picture of its edges. */
class NumberedGraph {
  readonly #store = new MemoryStore(virtualRuntime(), { executionPartitions: 1, indexedTags: [] })
  readonly edges: (readonly [number, number])[] = []

  static async of(nodeCount: number): Promise<NumberedGraph> {
    const graph = new NumberedGraph()
    await graph.#run('createFlow', {
      flowId,
      namespace: 'default',
      name: 'graph',
      tags: [],
      outcomeRule: 'all_members',
      retentionMs: 1,
      hold: false,
    })
    for (let node = 0; node < nodeCount; node++) {
      const create = {
        executionId: idOf(node),
        namespace: 'default',
        task: 'work',
        lane: 'main',
        class: '',
        priority: 0,
        tags: [],
        retry: { attempts: 1, backoff: { kind: 'fixed', delayMs: 0 } as const, jitter: false, onlyCategories: [] },
        retentionMs: 1,
        ifExists: 'reject' as const,
      }
      const input = { flowId, executionId: idOf(node), name: nameOf(node), create, after: [] }
      await graph.#run('addExecutionToFlow', input)
    }
    return graph
  }

  async connect(from: number, to: number): Promise<OperationResult<'addDependency'>> {
    const answer = await this.#run('addDependency', { flowId, upstreamId: idOf(from), downstreamId: idOf(to) })
    if (answer.kind === 'added') this.edges.push([from, to])
    return answer
  }

  reaches(from: number, to: number): boolean {
    const seen = new Set([from])
    for (const node of seen) for (const [up, down] of this.edges) if (up === node) seen.add(down)
    return seen.has(to)
  }

  /** Edges that do not lead from a lower rank to a higher one. */
  async disordered(): Promise<string[]> {
    const { records } = await this.#store.dump('fp:0')
    const ranks = new Map(
      records.flatMap((record) => (record.type === 'execution' ? [[record.id, record.member!.rank] as const] : [])),
    )
    return records.flatMap((record) => {
      if (record.type !== 'edge') return []
      return ranks.get(record.upstreamId)! < ranks.get(record.downstreamId)! ? [] : [record.id]
    })
  }

  async #run<N extends OperationName>(operation: N, input: OperationInput<N>): Promise<OperationResult<N>> {
    const [answer] = await this.#store.run('fp:0', [{ operation, input, blobs: [] }])
    if (answer?.kind !== 'answered') throw new Error(`${operation} was answered with ${JSON.stringify(answer)}.`)
    return answer.result as OperationResult<N>
  }
}

const NODE_COUNT = 9
/** Of a graph that has every edge it can have. */
const DENSE_COUNT = 12

const someEdges = fc.array(fc.tuple(fc.nat(NODE_COUNT - 1), fc.nat(NODE_COUNT - 1)), { maxLength: 50, size: 'max' })

describe('edges that come one by one, in any order', () => {
  test('are refused if they close a cycle and for no other reason, and every edge leads to a higher rank', async () => {
    await fc.assert(
      fc.asyncProperty(someEdges, async (edges) => {
        const graph = await NumberedGraph.of(NODE_COUNT)
        for (const [from, to] of edges) {
          const isKnown = graph.edges.some(([up, down]) => up === from && down === to)
          const closesCycle = graph.reaches(to, from)
          const answer = await graph.connect(from, to)

          if (from === to) expect(answer).toMatchObject({ kind: 'refused', code: 'self_referencing_edge' })
          else if (isKnown) expect(answer.kind).toBe('already_added')
          else if (closesCycle) expect(answer).toMatchObject({ kind: 'refused', code: 'cycle_detected' })
          else expect(answer).toMatchObject({ kind: 'added' })
        }
        expect(await graph.disordered()).toEqual([])
      }),
      { numRuns: 150 },
    )
  })

  test('that close a cycle are refused with a path that exists', async () => {
    await fc.assert(
      fc.asyncProperty(someEdges, async (edges) => {
        const graph = await NumberedGraph.of(NODE_COUNT)
        for (const [from, to] of edges) {
          const answer = await graph.connect(from, to)
          if (answer.kind !== 'refused' || answer.code !== 'cycle_detected') continue
          const path = answer.detail.path?.map((name) => Number(name.slice('node '.length))) ?? []

          // It leaves from the upstream over the edge that was asked for, and comes back to it over edges that are there.
          expect([path[0], path[1], path.at(-1)]).toEqual([from, to, from])
          for (let i = 1; i + 1 < path.length; i++) expect(graph.edges).toContainEqual([path[i], path[i + 1]])
        }
      }),
      { numRuns: 150 },
    )
  })
})

test('all edges that a few members can have without a cycle are accepted, in whatever order they come', async () => {
  const order = fc.shuffledSubarray(
    Array.from({ length: DENSE_COUNT }, (_, node) => node),
    { minLength: DENSE_COUNT },
  )
  const ranks = fc.array(fc.nat(), { minLength: DENSE_COUNT ** 2, maxLength: DENSE_COUNT ** 2 })
  await fc.assert(
    fc.asyncProperty(order, ranks, async (nodes, turns) => {
      const graph = await NumberedGraph.of(DENSE_COUNT)
      const edges = nodes.flatMap((from, i) => nodes.slice(i + 1).map((to) => [from, to] as const))
      const shuffled = edges.map((edge, i) => ({ edge, turn: turns[i]! })).sort((a, b) => a.turn - b.turn)
      for (const { edge } of shuffled) expect(await graph.connect(...edge)).toMatchObject({ kind: 'added' })
      expect(await graph.disordered()).toEqual([])
    }),
    { numRuns: 60 },
  )
})

test('a member to which very many ways lead is moved once for each level', async () => {
  const count = DENSE_COUNT
  const last = count - 1
  const graph = await NumberedGraph.of(count + 2)
  for (let from = 0; from < count; from++) {
    for (let to = from + 1; to < count; to++) await graph.connect(from, to)
  }
  // Behind all others and with an upstream of its own, so that it can be put before the others only by moving all of them.
  await graph.connect(last + 1, last + 2)

  expect(await graph.connect(last + 2, 0)).toMatchObject({ kind: 'added' })

  expect(await graph.disordered()).toEqual([])
})

test('a chain is wired backwards as well as forwards, and its end does not lead to its beginning', async () => {
  const graph = await NumberedGraph.of(120)
  for (let node = 119; node > 0; node--) {
    expect(await graph.connect(node, node - 1)).toMatchObject({ kind: 'added' })
  }
  expect(await graph.disordered()).toEqual([])
  expect(await graph.connect(0, 119)).toMatchObject({ kind: 'refused' })
})
