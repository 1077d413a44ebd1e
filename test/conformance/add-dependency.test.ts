/** An edge between two members: staged, applied and, if its upstream has ended, resolved in one call. */
import { expect, test } from 'vitest'
import { GRAPH_SEARCH_MAX } from '../../src/kernel/index.ts'
import { anyOf, input, names, nodes, payload, quorum } from './given-flow.ts'
import { CLASS, DELAY_MS, LANE, LEASE_TTL_MS, fixedRetry, permanentFailure, politeCancel } from './given.ts'
import { conforms } from './harness.ts'
import { refusal } from './refusal.ts'

conforms('addDependency', ({ fabric, flows, given, clock }) => {
  test('blocks a member that has not begun until the other has completed', async () => {
    const graph = await flows.open(['a', 'b'])

    expect(await graph.link('a', 'b')).toEqual({
      kind: 'added',
      revision: 3,
      edge: 'open',
      verdict: 'pending',
      downstream: 'blocked',
    })
    expect(await graph.isClaimable('b')).toBe(false)
    await graph.complete('a')
    expect(await graph.state('b')).toBe('waiting')
  })

  test('repeated answers as the edge stands, and writes nothing', async () => {
    const graph = await flows.open(['a', 'b'])
    await graph.link('a', 'b')
    await graph.complete('a')
    const before = await fabric.dump()

    expect(await graph.link('a', 'b')).toMatchObject({ kind: 'already_added', edge: 'satisfied', verdict: 'satisfied' })
    expect(await fabric.dump()).toEqual(before)
  })

  test('resolves in place an edge from a member that has ended', async () => {
    const graph = await flows.open(['done', 'lost', 'a', 'b'])
    await graph.complete('done')
    await graph.fail('lost')

    expect(await graph.link('done', 'a')).toMatchObject({
      edge: 'satisfied',
      verdict: 'satisfied',
      downstream: 'eligible',
    })
    expect(await graph.link('lost', 'b')).toMatchObject({
      edge: 'impossible',
      verdict: 'impossible',
      downstream: 'ended',
    })
    expect(await graph.endOf('b')).toBe('skipped,dependency_impossible,lost')
  })

  test('lets a group of all wait for one more as long as its member has not begun', async () => {
    const graph = await flows.open(['a', 'b', 'c'])
    await graph.link('a', 'c')
    await graph.complete('a')
    expect(await graph.state('c')).toBe('waiting')

    expect(await graph.link('b', 'c')).toMatchObject({ kind: 'added', verdict: 'pending', downstream: 'blocked' })
    expect(await graph.isClaimable('c')).toBe(false)
    await graph.complete('b')

    expect(await graph.group('c')).toMatchObject({ total: 2, completed: 2, verdict: 'satisfied' })
  })

  test('refuses one more once the member has begun, or its group has failed or chosen', async () => {
    const graph = await flows.open(['a', 'b', 'x', 'y'])
    await graph.add('all', { after: ['a'], draft: { retry: fixedRetry(3, 0) } })
    await graph.add('any', { after: ['a', 'x'], policy: anyOf })
    await graph.complete('a')
    const held = await graph.claim('all')

    expect((await refusal(fabric, () => graph.link('b', 'all'))).code).toBe('not_runnable')
    await fabric.run('releaseExecution', { ...held, reason: 'shutdown' })
    expect((await refusal(fabric, () => graph.link('b', 'all'))).code).toBe('edge_group_already_fired')
    expect((await refusal(fabric, () => graph.link('b', 'any'))).code).toBe('edge_group_already_fired')
  })

  test('refuses to put others before a member that undoes its steps, which then runs', async () => {
    const graph = await flows.open(['up', 'root'])
    const held = await graph.claim('root')
    await fabric.run('registerCompensation', { ...held, count: 1 })
    await fabric.run('releaseExecution', { ...held, reason: 'shutdown' })
    await fabric.run('cancelExecution', { executionId: held.executionId, ...politeCancel })

    expect((await refusal(fabric, () => graph.link('up', 'root'))).code).toBe('not_runnable')
    await graph.fail('up')

    expect(await graph.look('root')).toMatchObject({
      state: { phase: 'eligible' },
      unwinding: { outcome: 'cancelled' },
    })
    expect(await graph.isClaimable('root')).toBe(true)
  })

  test('lets a quorum grow while it is undecided, and judges nothing before it is large enough', async () => {
    const graph = await flows.open(['a', 'b', 'c'])
    await graph.add('q', { policy: quorum(2) })
    await graph.link('a', 'q')
    await graph.complete('a')
    expect(await graph.group('q')).toMatchObject({ total: 1, completed: 1, verdict: 'pending' })
    await graph.link('b', 'q')
    await graph.fail('b')
    expect(await graph.group('q')).toMatchObject({ total: 2, verdict: 'impossible' })
    expect((await refusal(fabric, () => graph.link('c', 'q'))).code).toBe('execution_ended')
  })

  test('keeps a delay that it pushes aside', async () => {
    const graph = await flows.open(['a'])
    await graph.add('b', { draft: { delayMs: DELAY_MS } })

    await graph.link('a', 'b')
    expect((await graph.look('b')).member?.delay).toMatchObject({ until: clock.now() + DELAY_MS })
    await graph.complete('a')

    expect(await graph.state('b')).toBe('delayed')
  })

  test('of a held flow counts what has ended, and judges it with the seal', async () => {
    const graph = await flows.held(['a', 'b'])
    await graph.cancelMember('a')

    expect(await graph.link('a', 'b')).toMatchObject({ edge: 'impossible', verdict: 'pending', downstream: 'blocked' })
    await graph.seal()

    expect(await graph.endOf('b')).toBe('skipped,dependency_impossible,a')
    expect((await graph.view()).state).toBe('failed')
  })

  test('takes edges in any order, whatever the order of the members', async () => {
    const graph = await flows.open(['d', 'c', 'b', 'a'])

    for (const [from, to] of [
      ['c', 'd'],
      ['a', 'b'],
      ['b', 'd'],
      ['a', 'c'],
      ['b', 'c'],
    ] as const) {
      expect((await graph.link(from, to)).kind).toBe('added')
    }

    await graph.complete('a', 'b', 'c', 'd')
  })

  test('refuses a cycle of any length, and names the way round', async () => {
    const graph = await flows.open(['a', 'b', 'c', 'd'])
    await graph.link('a', 'b')
    await graph.link('b', 'c')
    await graph.link('c', 'd')

    expect(await refusal(fabric, () => graph.link('d', 'a'))).toEqual({
      code: 'cycle_detected',
      detail: { path: ['d', 'a', 'b', 'c', 'd'] },
    })
    expect((await refusal(fabric, () => graph.link('b', 'a'))).detail).toEqual({ path: ['b', 'a', 'b'] })
  })

  test('of two that would close a cycle between them, asked at once, lets one through', async () => {
    const graph = await flows.open(['a', 'b'])

    const answers = await Promise.all([graph.link('a', 'b'), graph.link('b', 'a')])

    expect(answers.map((answer) => ('code' in answer ? answer.code : answer.kind))).toEqual(['added', 'cycle_detected'])
  })

  test('reports a graph that is too large to search, rather than a cycle', async () => {
    const links = names('n', GRAPH_SEARCH_MAX + 2)
    const graph = await flows.open([...links, 'first', 'second'])
    for (const [i, name] of links.entries()) if (i > 0) await graph.link(links[i - 1]!, name)
    await graph.link('first', 'second')

    expect((await refusal(fabric, () => graph.link('second', 'n0'))).code).toBe('graph_limit_exceeded')
  })

  test('refuses a member before itself, and what does not exist or is not in the flow', async () => {
    const graph = await flows.open(['a', 'b'])
    const stranger = await given.eligibleExecution()
    const upstreamId = given.newId()

    expect((await refusal(fabric, () => graph.link('a', 'a'))).code).toBe('self_referencing_edge')
    expect((await refusal(fabric, () => graph.link('a', 'b', { flowId: flows.newId() }))).code).toBe('flow_not_found')
    const missing = [{ upstreamId }, { downstreamId: upstreamId }]
    for (const end of missing) {
      expect((await refusal(fabric, () => graph.link('a', 'b', end))).code).toBe('execution_not_found')
    }
    const foreign = [{ upstreamId: stranger.executionId }, { downstreamId: stranger.executionId }]
    for (const end of foreign) {
      expect((await refusal(fabric, () => graph.link('a', 'b', end))).code).toBe('execution_not_in_flow')
    }
  })

  test('refuses a second edge between the same two that hands on something else', async () => {
    const graph = await flows.open(['a', 'b', 'c'])
    await graph.link(input('a', 'x'), 'b')
    await graph.link(payload('a'), 'c')

    expect((await graph.link(input('a', 'x'), 'b')).kind).toBe('already_added')
    for (const other of ['a', input('a', 'y'), payload('a')]) {
      expect((await refusal(fabric, () => graph.link(other, 'b'))).code).toBe('dependency_already_exists')
    }
  })

  test('refuses a second payload of a group of all, and any payload of a quorum', async () => {
    const graph = await flows.open(['a', 'b', 'c', 'q'])
    await graph.link(payload('a'), 'c')
    await fabric.run('setEdgeGroupPolicy', { flowId: graph.flowId, executionId: graph.id('q'), policy: quorum(2) })

    expect((await refusal(fabric, () => graph.link(payload('b'), 'c'))).code).toBe('invalid_input')
    expect((await refusal(fabric, () => graph.link(payload('b'), 'q'))).code).toBe('invalid_input')
  })

  test('adds only to the graph that its caller has read, if the caller asks for that', async () => {
    const graph = await flows.open(['a', 'b', 'c'])
    const { revision } = await graph.view()

    expect(await graph.link('a', 'b', { expectedRevision: revision })).toMatchObject({ kind: 'added', revision: 4 })
    expect(await refusal(fabric, () => graph.link('b', 'c', { expectedRevision: revision }))).toEqual({
      code: 'stale_graph_revision',
      detail: { flowId: graph.flowId, revision: 4 },
    })
  })

  test('refuses a flow that is sealed, ended or cancelled, and a member that has ended', async () => {
    const sealed = await flows.graph({ a: [], b: [] })
    const cancelled = await flows.open(['a', 'b'])
    const open = await flows.open(['a', 'b'])
    await cancelled.cancel()
    await open.complete('b')

    expect((await refusal(fabric, () => sealed.link('a', 'b'))).code).toBe('flow_sealed')
    expect((await refusal(fabric, () => cancelled.link('a', 'b'))).code).toBe('flow_ended')
    expect((await refusal(fabric, () => open.link('a', 'b'))).code).toBe('execution_ended')
    await sealed.complete('a', 'b')
    expect((await refusal(fabric, () => sealed.link('a', 'b'))).code).toBe('flow_ended')
  })
})

conforms('addDependency by the holder of the downstream', ({ fabric, flows, given, clock }) => {
  test('adds to what it is going to wait for, in a sealed flow too', async () => {
    const graph = await flows.graph({ parent: [], other: [] })
    const { fence } = await graph.claim('parent')

    expect(await graph.link('other', 'parent', { fence })).toMatchObject({ kind: 'added', downstream: 'active' })
    expect(await graph.state('parent')).toBe('active')
  })

  test('that undoes its steps never waits for what it adds, and is not skipped by it', async () => {
    const graph = await flows.open(['other', 'parent'])
    const held = await graph.claim('parent')
    await fabric.run('registerCompensation', { ...held, count: 1 })
    expect(await fabric.run('failExecution', { ...held, ...permanentFailure })).toMatchObject({ kind: 'unwinding' })

    expect(await graph.link('other', 'parent', held)).toMatchObject({ kind: 'added', downstream: 'active' })
    expect(await graph.add('child', { holder: held, awaited: {} })).toMatchObject({ kind: 'added' })
    expect(await fabric.run('waitForChildren', held)).toEqual({ kind: 'unwinding' })
    await graph.fail('other')
    expect(await graph.group('parent')).toMatchObject({ verdict: 'impossible' })
    expect(await fabric.run('waitForChildren', held)).toEqual({ kind: 'unwinding' })
    await fabric.run('releaseExecution', { ...held, reason: 'shutdown' })

    expect(await graph.look('parent')).toMatchObject({ state: { phase: 'eligible' }, unwinding: { outcome: 'failed' } })
    expect(await graph.isClaimable('parent')).toBe(true)
  })

  test('refuses a lease that is over or another’s, and what would wait for itself', async () => {
    const graph = await flows.graph({ parent: [], later: ['parent'], other: [] })
    const { fence } = await graph.claim('parent')
    const stale = { ...fence, leaseId: given.requestId() }

    expect((await refusal(fabric, () => graph.link('other', 'parent', { fence: stale }))).code).toBe('stale_lease')
    expect((await refusal(fabric, () => graph.link('later', 'parent', { fence }))).code).toBe('cycle_detected')
    clock.advance(LEASE_TTL_MS)
    expect((await refusal(fabric, () => graph.link('other', 'parent', { fence }))).code).toBe('lease_expired')
  })

  test('keeps no upstream held while the flow is released over several calls', async () => {
    const roots = names('r', 240)
    const { graph, calls } = flows.draw(nodes(roots), { drafts: { r0: { class: 'first' } }, class: CLASS })
    for (const call of calls) await fabric.run('submitFlow', call)
    const { executions } = await given.claim({ queues: [{ lane: LANE, class: 'first' }] })
    const { fence } = executions[0]!
    expect((await graph.look('r239')).state).toEqual({ phase: 'blocked', by: 'hold', gate: undefined })

    const early = await graph.link('r239', 'r0', { fence })
    await flows.drain()
    if (early.kind === 'refused') await graph.link('r239', 'r0', { fence })

    expect((await graph.look('r239')).state).toEqual({ phase: 'eligible' })
    expect(await graph.edge('r239', 'r0')).toBe('open')
  })
})
