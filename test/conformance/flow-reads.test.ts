import { expect, test } from 'vitest'
import { EDGE_PAGE_MAX, MEMBER_PAGE_MAX } from '../../src/kernel/index.ts'
import type { MemberView, Position } from '../../src/kernel/index.ts'
import { anyOf, input, names, nodes } from './given-flow.ts'
import { CLASS } from './given.ts'
import type { Graph } from './graph.ts'
import { conforms } from './harness.ts'
import { refusal } from './refusal.ts'

conforms('describeFlow', ({ fabric, flows, clock }) => {
  test('returns a flow with its counts, its state and what it owes', async () => {
    const graph = await flows.graph({ a: [], b: ['a'], c: [] }, { flow: { key: 'order 7' } })
    await graph.claim('a')

    expect(await fabric.run('describeFlow', { flowId: graph.flowId })).toMatchObject({
      kind: 'flow_described',
      at: clock.now(),
      view: {
        state: 'running',
        revision: 4,
        liveCount: 3,
        settled: false,
        flow: { key: 'order 7', name: 'release', counts: { active: 1, waiting: 1, waiting_dependencies: 1 } },
      },
    })
  })

  test('refuses a flow that does not exist', async () => {
    const unknown = { flowId: flows.newId() }
    expect((await refusal(fabric, () => fabric.run('describeFlow', unknown))).code).toBe('flow_not_found')
  })
})

conforms('listFlows', ({ fabric, flows, clock }) => {
  test('returns newest first, page by page, and keeps those that have ended', async () => {
    const made: string[] = []
    for (let i = 0; i < 5; i++) {
      const graph = await flows.graph({ a: [] })
      if (i % 2 === 0) await graph.complete('a')
      made.unshift(graph.flowId)
      clock.advance(1)
    }

    const first = await fabric.run('listFlows', { limit: 3 })
    const second = await fabric.run('listFlows', { limit: 3, cursor: first.cursor })

    expect([...first.flows, ...second.flows].map(({ flow }) => flow.id)).toEqual(made)
    expect(second.cursor).toBeUndefined()
  })

  test('returns only what was asked for', async () => {
    const tags = [{ name: 'team', value: 'core', indexed: false }]
    const done = await flows.graph({ a: [] }, { flow: { name: 'nightly', tags } })
    await done.complete('a')
    const lost = await flows.graph({ a: [] }, { flow: { namespace: 'other' } })
    await lost.cancel()
    await flows.open()
    const ids = async (filter: object) =>
      (await fabric.run('listFlows', { limit: 10, ...filter })).flows.map(({ flow }) => flow.id)

    expect(await ids({ name: 'nightly' })).toEqual([done.flowId])
    expect(await ids({ state: 'completed' })).toEqual([done.flowId])
    expect(await ids({ namespace: 'other' })).toEqual([lost.flowId])
    expect(await ids({ state: 'cancelled' })).toEqual([lost.flowId])
    expect(await ids({ tag: { name: 'team', value: 'core' } })).toEqual([done.flowId])
    expect(await ids({ tag: { name: 'team', value: 'edge' } })).toEqual([])
  })
})

conforms('listFlowMembers', ({ fabric, flows }) => {
  const allOf = async (
    graph: Graph,
    limit: number,
    edges: boolean,
  ): Promise<{ members: MemberView[]; pages: number }> => {
    const members: MemberView[] = []
    let cursor: Position | undefined
    let pages = 0
    do {
      const page = await fabric.run('listFlowMembers', { flowId: graph.flowId, limit, edges, cursor })
      if (page.kind === 'refused') throw new Error(page.code)
      members.push(...page.members)
      cursor = page.cursor
      pages = pages + 1
    } while (cursor !== undefined && pages < 100)
    return { members, pages }
  }

  test('returns members in the order of the graph, with what leads to them', async () => {
    const graph = await flows.graph({ a: [], b: ['a'], c: ['a', 'b'] })
    await graph.complete('a')

    const { members } = await allOf(graph, 2, true)

    expect(members.map(({ execution }) => execution.member?.name)).toEqual(['a', 'b', 'c'])
    expect(
      members.map(({ upstreams }) => upstreams.map(({ executionId, isOpen }) => [graph.nameOf(executionId), isOpen])),
    ).toEqual([
      [],
      [['a', false]],
      [
        ['b', true],
        ['a', false],
      ],
    ])
    expect((await allOf(graph, 10, false)).members.map(({ upstreams }) => upstreams)).toEqual([[], [], []])
  })

  test('returns 450 members in pages of a bounded size, each once', async () => {
    const all = names('n', 450)
    const graph = await flows.graph(nodes(all), { class: CLASS })

    const { members, pages } = await allOf(graph, 1_000, false)

    expect(pages).toBe(3)
    expect(members.map(({ execution }) => execution.member?.name)).toEqual(all)
    expect(MEMBER_PAGE_MAX).toBe(200)
  })

  test('ends a page early when it has enough edges', async () => {
    const upper = names('u', 40)
    const lower = names('v', 40)
    const graph = await flows.graph({ ...nodes(upper), ...nodes(lower, upper) }, { class: CLASS })

    const { members, pages } = await allOf(graph, 200, true)

    expect(members).toHaveLength(80)
    expect(members.reduce((sum, { upstreams }) => sum + upstreams.length, 0)).toBe(1_600)
    expect(pages).toBe(Math.ceil(1_600 / EDGE_PAGE_MAX))
  })

  test('refuses a flow that does not exist', async () => {
    const unknown = { flowId: flows.newId(), limit: 10 }
    expect((await refusal(fabric, () => fabric.run('listFlowMembers', unknown))).code).toBe('flow_not_found')
  })
})

conforms('listEdges', ({ fabric, flows, given }) => {
  test('returns the edges of one member in both directions, open ones first', async () => {
    const graph = await flows.graph({ a: [], b: [], c: [input('a', 'x'), 'b'], d: ['c'] })
    await graph.complete('a')
    const list = async (direction: 'inbound' | 'outbound') => {
      const result = await fabric.run('listEdges', { executionId: graph.id('c'), direction, limit: 10 })
      return result.kind === 'edges_listed' ? result.edges : []
    }

    expect(await list('inbound')).toMatchObject([
      { upstreamId: graph.id('b'), state: 'open' },
      { upstreamId: graph.id('a'), state: 'satisfied', hands: { as: 'input', name: 'x' } },
    ])
    expect(await list('outbound')).toMatchObject([{ downstreamId: graph.id('d'), state: 'open' }])
  })

  test('returns many in pages', async () => {
    const many = names('u', 45)
    const graph = await flows.graph({ ...nodes(many), z: many }, { class: CLASS })
    const input = { executionId: graph.id('z'), direction: 'inbound' } as const

    const first = await fabric.run('listEdges', { ...input, limit: 30 })
    if (first.kind === 'refused') throw new Error(first.code)
    const second = await fabric.run('listEdges', { ...input, limit: 30, cursor: first.cursor })

    if (second.kind === 'refused') throw new Error(second.code)

    expect(second.cursor).toBeUndefined()
    expect(new Set([...first.edges, ...second.edges].map((edge) => edge.upstreamId)).size).toBe(45)
  })

  test('returns none where there are none, and refuses what does not exist', async () => {
    const { executionId } = await given.eligibleExecution()
    const of = (id: typeof executionId) => fabric.run('listEdges', { executionId: id, direction: 'inbound', limit: 10 })

    expect(await of(executionId)).toEqual({ kind: 'edges_listed', edges: [], cursor: undefined })
    expect((await refusal(fabric, () => of(given.newId()))).code).toBe('execution_not_found')
  })
})

conforms('explainExecution of a member', ({ fabric, flows }) => {
  test('names what it waits for', async () => {
    const graph = await flows.graph({ a: [], b: [], c: ['a', 'b'] }, { policies: { c: anyOf } })

    const explained = await fabric.run('explainExecution', { executionId: graph.id('c') })

    expect(JSON.stringify(explained)).toContain(graph.id('a'))
  })
})
