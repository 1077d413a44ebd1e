/** A whole graph in one operation, or in several that are not visible before the last. */
import { expect, test } from 'vitest'
import { FLOW_EDGE_MAX, FLOW_MEMBER_MAX, SUBMISSION_IDLE_MS } from '../../src/kernel/index.ts'
import { anyOf, chain, input, names, nodes, payload, quorum } from './given-flow.ts'
import { CLASS } from './given.ts'
import { conforms } from './harness.ts'
import { refusal } from './refusal.ts'

const diamond = { a: [], b: ['a'], c: ['a'], d: ['b', 'c'] }
/** More than one call may bring. */
const wide = { a: [], ...nodes(names('w', 100), ['a']) }

conforms('submitFlow', ({ fabric, flows, given, clock }) => {
  test('creates a graph in one call, sealed, with its roots ready and everything else waiting', async () => {
    const { graph, calls } = flows.draw(diamond)

    const result = await fabric.run('submitFlow', calls[0]!)

    expect(calls).toHaveLength(1)
    expect(result).toEqual({
      kind: 'submitted',
      flowId: graph.flowId,
      nodes: 4,
      edges: 4,
      state: 'open',
      at: clock.now(),
    })
    expect(await graph.view()).toMatchObject({
      state: 'open',
      revision: 8,
      liveCount: 4,
      settled: false,
      flow: { state: { phase: 'sealed' }, counts: { waiting: 1, waiting_dependencies: 3 } },
    })
    expect((await fabric.events()).map((event) => event.type)).toEqual([
      'flow_created',
      ...Array.from({ length: 4 }, () => 'execution_created'),
      'flow_sealed',
    ])
  })

  test('takes a graph of one node, and one without edges', async () => {
    const one = await flows.graph({ a: [] })
    const loose = await flows.graph({ a: [], b: [] })

    await one.complete('a')
    await loose.complete('b', 'a')

    expect((await one.view()).state).toBe('completed')
    expect((await loose.view()).state).toBe('completed')
  })

  test('keeps the delay of a root, and the options of each node', async () => {
    const drafts = { a: { delayMs: 60_000, priority: 7, bytes: new Uint8Array([1, 2]) }, b: { task: 'other' } }
    const graph = await flows.graph({ a: [], b: ['a'] }, { drafts })

    expect(await graph.state('a')).toBe('delayed')
    expect(await graph.look('a')).toMatchObject({ priority: 7, payload: { size: 2 }, member: { name: 'a' } })
    expect(await graph.look('b')).toMatchObject({ task: 'other', member: { group: { policy: 'all_of', total: 1 } } })
  })

  test('repeated by the same caller is answered as before, by another it is joined; neither writes', async () => {
    const { graph, calls } = flows.draw(diamond)
    await fabric.run('submitFlow', calls[0]!)
    await graph.complete('a')
    const before = await fabric.dump()

    const again = await fabric.run('submitFlow', calls[0]!)
    const other = await fabric.run('submitFlow', { ...calls[0]!, requestId: given.requestId() })

    expect(again).toMatchObject({ kind: 'submitted', nodes: 4, edges: 4, state: 'running' })
    expect(other).toMatchObject({ kind: 'joined', state: 'running' })
    expect(await fabric.dump()).toEqual(before)
  })

  test('refuses another graph under the same id, another flow, and a flow that was made step by step', async () => {
    const { graph, calls } = flows.draw(diamond)
    await fabric.run('submitFlow', calls[0]!)
    const open = await flows.open()
    const other = { ...calls[0]!, digest: 'other' }

    expect(await refusal(fabric, () => fabric.run('submitFlow', other))).toEqual({
      code: 'input_differs',
      detail: { flowId: graph.flowId },
    })
    const renamed = { ...other, name: 'another' }
    expect((await refusal(fabric, () => fabric.run('submitFlow', renamed))).code).toBe('flow_exists')
    const onOpen = { ...calls[0]!, flowId: open.flowId }
    expect((await refusal(fabric, () => fabric.run('submitFlow', onOpen))).code).toBe('flow_exists')
  })

  test('refuses a node whose id is taken, by another execution or twice in the graph', async () => {
    const taken = await given.eligibleExecution()
    const { calls } = flows.draw({ a: [] }, { drafts: { a: { executionId: taken.executionId } } })
    const twice = flows.draw({ a: [], b: [] }, { drafts: { a: taken, b: taken } }).calls

    expect(await refusal(fabric, () => fabric.run('submitFlow', calls[0]!))).toEqual({
      code: 'execution_exists',
      detail: { executionId: taken.executionId },
    })
    expect((await refusal(fabric, () => fabric.run('submitFlow', twice[0]!))).code).toBe('execution_exists')
  })

  test('refuses an edge from or to a member that is not in the graph', async () => {
    const { graph, calls } = flows.draw({ a: [], b: ['a'] })
    const stranger = await given.eligibleExecution()
    const from = { upstreamId: stranger.executionId, downstreamId: graph.id('b') }
    const to = { upstreamId: graph.id('a'), downstreamId: given.newId() }

    for (const edge of [from, to]) {
      const { code } = await refusal(fabric, () => fabric.run('submitFlow', { ...calls[0]!, edges: [edge] }))
      expect(code).toBe('execution_not_found')
    }
  })

  test('refuses an edge that leads back, or to its own beginning, and names both ends', async () => {
    const back = flows.draw({ a: ['b'], b: ['a'] }).calls
    const self = flows.draw({ a: ['a'] }).calls

    expect(await refusal(fabric, () => fabric.run('submitFlow', back[0]!))).toEqual({
      code: 'cycle_detected',
      detail: { path: ['b', 'a'] },
    })
    expect((await refusal(fabric, () => fabric.run('submitFlow', self[0]!))).detail).toEqual({ path: ['a', 'a'] })
  })

  test('refuses two edges between the same two members', async () => {
    const { calls } = flows.draw({ a: [], b: ['a', input('a')] })

    expect(await refusal(fabric, () => fabric.run('submitFlow', calls[0]!))).toEqual({
      code: 'invalid_input',
      detail: { nodes: ['a', 'b'] },
    })
  })

  test('refuses two payloads for a member that waits for all, and any for a quorum', async () => {
    const all = flows.draw({ a: [], b: [], c: [payload('a'), payload('b')] }).calls
    const some = flows.draw({ a: [], b: [], c: ['a', payload('b')] }, { policies: { c: quorum(2) } }).calls

    for (const calls of [all, some]) {
      const { code, detail } = await refusal(fabric, () => fabric.run('submitFlow', calls[0]!))
      expect([code, detail]).toEqual(['invalid_input', { nodes: ['c'] }])
    }
  })

  test('refuses a quorum that is larger than its group, and names it', async () => {
    const { calls } = flows.draw({ a: [], b: [], c: ['a', 'b'], d: [] }, { policies: { c: quorum(3), d: anyOf } })

    const { code, detail } = await refusal(fabric, () => fabric.run('submitFlow', calls[0]!))

    expect(code).toBe('unreachable_quorum')
    expect(detail).toMatchObject({ nodes: ['c', 'd'] })
  })

  test.each([
    ['members', { nodeCount: FLOW_MEMBER_MAX + 1 }, FLOW_MEMBER_MAX],
    ['edges', { edgeCount: FLOW_EDGE_MAX + 1 }, FLOW_EDGE_MAX],
  ])('refuses more %s than a flow may have, and names the limit', async (_, announced, limit) => {
    const { calls } = flows.draw(diamond)

    expect(await refusal(fabric, () => fabric.run('submitFlow', { ...calls[0]!, ...announced }))).toEqual({
      code: 'graph_limit_exceeded',
      detail: { limit },
    })
  })
})

conforms('submitFlow in several calls', ({ fabric, flows, given, clock }) => {
  test('holds everything back until the last call, then lets it go', async () => {
    const { graph, calls } = flows.draw(wide, { class: CLASS })
    const kinds: string[] = []
    for (const call of calls) {
      expect((await given.claim()).executions).toEqual([])
      kinds.push((await fabric.run('submitFlow', call)).kind)
    }

    expect(kinds).toEqual(['accepted', 'accepted', 'accepted', 'submitted'])
    await flows.drain()
    expect((await graph.view()).flow).toMatchObject({
      state: { phase: 'sealed' },
      memberCount: 101,
      edgeCount: 100,
      counts: { waiting: 1, waiting_dependencies: 100 },
    })
  })

  test('is continued by any caller with the same content, from the position in the answer', async () => {
    const { calls } = flows.draw(wide, { class: CLASS })
    await fabric.run('submitFlow', calls[0]!)
    const other = given.requestId()

    expect(await fabric.run('submitFlow', { ...calls[2]!, requestId: other })).toMatchObject({
      kind: 'accepted',
      nodes: 90,
      edges: 0,
    })
    expect(await fabric.run('submitFlow', { ...calls[0]!, requestId: other })).toMatchObject({ nodes: 90 })
    for (const call of calls.slice(1)) await fabric.run('submitFlow', { ...call, requestId: other })
    expect(await fabric.run('submitFlow', { ...calls[0]!, requestId: other })).toMatchObject({
      kind: 'joined',
      nodes: 101,
      edges: 100,
    })
  })

  test('takes what overlaps with what it has once', async () => {
    const { graph, calls } = flows.draw(wide, { class: CLASS })
    const [first, second, edges] = [calls[0]!, calls[1]!, calls[2]!]
    await fabric.run('submitFlow', { ...first, nodes: first.nodes.slice(0, 50) })

    expect(await fabric.run('submitFlow', first)).toMatchObject({ nodes: 90 })
    await fabric.run('submitFlow', second)
    await fabric.run('submitFlow', { ...edges, edges: edges.edges.slice(0, 30) })
    expect(await fabric.run('submitFlow', edges)).toMatchObject({ edges: 90 })
    expect((await graph.view()).flow).toMatchObject({ memberCount: 101, edgeCount: 90, state: { phase: 'held' } })
  })

  test('refuses other content, members, edges, policies and a seal from any other caller', async () => {
    const { graph, calls } = flows.draw(wide, { class: CLASS })
    await fabric.run('submitFlow', calls[0]!)
    const policy = { flowId: graph.flowId, executionId: graph.id('w1'), policy: anyOf }
    const other = { ...calls[1]!, digest: 'other' }

    expect((await refusal(fabric, () => fabric.run('submitFlow', other))).code).toBe('input_differs')
    expect((await refusal(fabric, () => graph.add('late'))).code).toBe('flow_sealed')
    expect((await refusal(fabric, () => graph.link('a', 'w1'))).code).toBe('flow_sealed')
    expect((await refusal(fabric, () => fabric.run('setEdgeGroupPolicy', policy))).code).toBe('flow_sealed')
    expect((await refusal(fabric, () => graph.seal())).code).toBe('flow_sealed')
  })

  test('names a group that is too small only with the last call', async () => {
    const late = { ...nodes(names('w', 99)), z: names('w', 99) }
    const { calls } = flows.draw(late, { class: CLASS, policies: { z: quorum(100) } })
    for (const call of calls.slice(0, -1)) expect((await fabric.run('submitFlow', call)).kind).toBe('accepted')

    const { code } = await refusal(fabric, () => fabric.run('submitFlow', calls.at(-1)!))

    expect(code).toBe('unreachable_quorum')
  })

  test('is given up when it is not continued, and every member with it', async () => {
    const { graph, calls } = flows.draw(wide, { class: CLASS })
    await fabric.run('submitFlow', calls[0]!)
    clock.advance(SUBMISSION_IDLE_MS - 1)
    expect(await flows.drain()).toEqual([])
    await fabric.run('submitFlow', calls[1]!)
    clock.advance(SUBMISSION_IDLE_MS - 1)
    expect(await flows.drain()).toEqual([])

    clock.advance(1)
    expect((await flows.drain())[0]).toBe('submission_abandoned')

    expect(await graph.view()).toMatchObject({
      state: 'cancelled',
      settled: true,
      flow: { state: { reason: 'submission_abandoned', by: 'flow' }, counts: { cancelled: 101 } },
    })
    expect(await fabric.run('submitFlow', calls[2]!)).toMatchObject({ state: 'cancelled' })
  })

  test.each(['all_members', 'sinks'] as const)(
    'by %s counts a member that was cancelled before its edges came',
    async (outcomeRule) => {
      const { graph, calls } = flows.draw(wide, { class: CLASS, flow: { outcomeRule } })
      await fabric.run('submitFlow', calls[0]!)
      await graph.cancelMember('a')
      for (const call of calls.slice(1)) await fabric.run('submitFlow', call)
      await flows.drain()

      expect((await graph.view()).flow).toMatchObject({
        state: { phase: 'ended', outcome: 'failed' },
        counts: { cancelled: 1, skipped: 100 },
      })
    },
  )

  test('leaves a member alone that was cancelled before edges to it came', async () => {
    const { graph, calls } = flows.draw(wide, { class: CLASS })
    await fabric.run('submitFlow', calls[0]!)
    await graph.cancelMember('w1')
    for (const call of calls.slice(1)) await fabric.run('submitFlow', call)
    await flows.drain()

    expect(await graph.state('w1')).toBe('cancelled')
    expect((await graph.view()).flow.counts).toMatchObject({ waiting: 1, waiting_dependencies: 99, cancelled: 1 })
    await graph.complete('a')
    await flows.drain()
    expect(await graph.group('w1')).toMatchObject({ completed: 1 })
  })

  test('runs a chain of chains that came in pieces to its end', async () => {
    const links = names('n', 70)
    const graph = await flows.graph(chain(links), { class: CLASS })

    await graph.complete(...links)

    expect((await graph.view()).state).toBe('completed')
  })
})
