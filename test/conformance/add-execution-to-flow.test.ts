import { expect, test } from 'vitest'
import { RESOLVE_PAGE_COUNT } from '../../src/kernel/index.ts'
import { anyOf, names, payload, quorum } from './given-flow.ts'
import { DELAY_MS, LEASE_TTL_MS, politeCancel, reachablePhases } from './given.ts'
import { conforms } from './harness.ts'
import { refusal } from './refusal.ts'

conforms('addExecutionToFlow', ({ fabric, flows, given, clock }) => {
  test('creates a member that runs at once, and one that waits for others from birth', async () => {
    const graph = await flows.open()

    expect(await graph.add('a')).toMatchObject({ kind: 'added', state: 'waiting', memberCount: 1, revision: 1 })
    expect(await graph.add('b', { after: ['a'] })).toMatchObject({
      kind: 'added',
      executionId: graph.id('b'),
      state: 'waiting_dependencies',
      memberCount: 2,
      revision: 3,
    })
    expect(await graph.isClaimable('b')).toBe(false)
    await graph.complete('a')
    expect(await graph.state('b')).toBe('waiting')
  })

  test('repeated answers as the graph stands, and counts nothing twice', async () => {
    const graph = await flows.open(['a'])
    await graph.add('b', { after: ['a'] })
    const before = await fabric.dump()

    expect(await graph.add('b', { after: ['a'] })).toMatchObject({
      kind: 'already_member',
      memberCount: 2,
      revision: 3,
    })

    expect(await fabric.dump()).toEqual(before)
  })

  test('two at once are both counted', async () => {
    const graph = await flows.open()

    const added = await Promise.all(names('n', 20).map((name) => graph.add(name)))

    expect(added.map((answer) => answer.kind)).toEqual(Array.from({ length: 20 }, () => 'added'))
    expect((await graph.view()).flow).toMatchObject({ memberCount: 20, counts: { waiting: 20 } })
  })

  test.each(reachablePhases)('takes an execution that is %s as it stands', async (phase) => {
    const graph = await flows.open()
    const existing = await given.inPhase(phase)
    const before = (await fabric.look(existing.executionId)).state

    const result = await graph.add('a', { executionId: existing.executionId })

    expect(result).toMatchObject({ kind: 'added', memberCount: 1 })
    expect((await graph.look('a')).state).toEqual(before)
    expect((await graph.view()).liveCount).toBe(phase === 'ended' ? 0 : 1)
  })

  test('blocks an existing execution that has not begun, and keeps its delay for later', async () => {
    const graph = await flows.open(['a'])
    const existing = await given.delayedExecution()

    await graph.add('b', { executionId: existing.executionId, after: ['a'] })
    expect(await graph.state('b')).toBe('waiting_dependencies')
    clock.advance(1)
    await graph.complete('a')

    expect((await graph.look('b')).state).toEqual({
      phase: 'delayed',
      until: clock.now() - 1 + DELAY_MS,
      cause: 'submitted',
    })
  })

  test('resolves edges from members that have ended in the same call', async () => {
    const graph = await flows.open(['done', 'lost'])
    await graph.complete('done')
    await graph.fail('lost')

    expect(await graph.add('a', { after: ['done'] })).toMatchObject({ state: 'waiting' })
    expect(await graph.add('b', { after: ['done', 'lost'] })).toMatchObject({ state: 'skipped' })
    expect(await graph.add('c', { after: ['lost', 'done'], policy: anyOf })).toMatchObject({ state: 'waiting' })
    expect(await graph.endOf('b')).toMatch(/^skipped,dependency_impossible/)
  })

  test('refuses what does not exist, and what belongs to another flow', async () => {
    const graph = await flows.open(['a'])
    const other = await flows.open(['x'])
    const id = given.newId()

    expect((await refusal(fabric, () => graph.add('b', { flowId: flows.newId() }))).code).toBe('flow_not_found')
    const bare = { flowId: graph.flowId, executionId: id, name: 'b', after: [] }
    expect(await refusal(fabric, () => fabric.run('addExecutionToFlow', bare))).toEqual({
      code: 'execution_not_found',
      detail: { executionId: id },
    })
    const foreign = { executionId: other.id('x') }
    expect((await refusal(fabric, () => graph.add('x', foreign))).code).toBe('execution_in_flow')
    const unknown = { ...bare, create: given.createInput({ executionId: id }) }
    const afterNobody = { ...unknown, after: [{ upstreamId: given.newId() }] }
    expect((await refusal(fabric, () => fabric.run('addExecutionToFlow', afterNobody))).code).toBe(
      'execution_not_found',
    )
    const afterForeign = { ...unknown, after: [{ upstreamId: other.id('x') }] }
    expect((await refusal(fabric, () => fabric.run('addExecutionToFlow', afterForeign))).code).toBe(
      'execution_not_in_flow',
    )
  })

  test('refuses a flow that is sealed, ended or cancelled', async () => {
    const sealed = await flows.graph({ a: [] })
    const ended = await flows.graph({ a: [] })
    const cancelled = await flows.open(['a'])
    await ended.complete('a')
    await cancelled.cancel()

    expect((await refusal(fabric, () => sealed.add('b'))).code).toBe('flow_sealed')
    expect((await refusal(fabric, () => ended.add('b'))).code).toBe('flow_ended')
    expect((await refusal(fabric, () => cancelled.add('b'))).code).toBe('flow_ended')
  })

  test('refuses to put others before an execution that has begun or ended', async () => {
    const graph = await flows.open(['a'])
    const active = await given.activeExecution()
    const ended = await given.endedExecution()
    const after = ['a']

    expect((await refusal(fabric, () => graph.add('b', { ...active, after }))).code).toBe('not_runnable')
    expect((await refusal(fabric, () => graph.add('c', { ...ended, after }))).code).toBe('execution_ended')
  })

  test('refuses to put others before an execution that undoes its steps, and takes it without them', async () => {
    const graph = await flows.open(['a'])
    const held = await given.activeExecution()
    const { executionId } = held
    await fabric.run('registerCompensation', { ...held, count: 1 })
    await fabric.run('releaseExecution', { ...held, reason: 'shutdown' })
    await fabric.run('cancelExecution', { executionId, ...politeCancel })

    expect((await refusal(fabric, () => graph.add('b', { executionId, after: ['a'] }))).code).toBe('not_runnable')
    expect(await graph.add('b', { executionId })).toMatchObject({ kind: 'added' })
    expect(await graph.look('b')).toMatchObject({ state: { phase: 'eligible' }, unwinding: { outcome: 'cancelled' } })
  })

  test('refuses more edges than one call may bring, one of them twice, and more than one payload', async () => {
    const many = names('n', RESOLVE_PAGE_COUNT + 1)
    const graph = await flows.open(many)

    expect((await refusal(fabric, () => graph.add('z', { after: many }))).code).toBe('graph_limit_exceeded')
    expect((await refusal(fabric, () => graph.add('z', { after: ['n0', 'n0'] }))).code).toBe('invalid_input')
    const payloads = [payload('n0'), payload('n1')]
    expect((await refusal(fabric, () => graph.add('z', { after: payloads }))).code).toBe('invalid_input')
    expect((await graph.add('z', { after: many.slice(1) })).kind).toBe('added')
  })
})

conforms('addExecutionToFlow on behalf of a running member', ({ fabric, flows, given, clock }) => {
  test('extends a sealed flow by a member that the holder waits for', async () => {
    const graph = await flows.graph({ parent: [] })
    const holder = await graph.claim('parent')

    const result = await graph.add('child', { holder, awaited: { hands: { as: 'input', name: 'it' } } })

    expect(result).toMatchObject({ kind: 'added', state: 'waiting', memberCount: 2, revision: 3 })
    expect(await graph.group('parent')).toMatchObject({ total: 1, verdict: 'pending' })
    expect(await graph.edge('child', 'parent')).toBe('open')
    expect((await graph.view()).flow.state).toEqual({ phase: 'sealed' })
  })

  test('adds one that the holder does not wait for, and the flow ends with it', async () => {
    const graph = await flows.graph({ parent: [] })
    const holder = await graph.claim('parent')
    await graph.add('child', { holder })

    await graph.complete('parent')
    expect((await graph.view()).state).toBe('running')
    await graph.complete('child')

    expect((await graph.view()).state).toBe('completed')
  })

  test('orders children that wait for each other before their parent', async () => {
    const graph = await flows.graph({ parent: [] })
    const holder = await graph.claim('parent')
    const awaited = {}

    for (const [name, after] of [
      ['a', []],
      ['b', ['a']],
      ['c', ['b']],
      ['d', ['b', 'c']],
    ] as const) {
      expect((await graph.add(name, { holder, awaited, after })).kind).toBe('added')
    }

    expect(await graph.group('parent')).toMatchObject({ total: 4 })
  })

  test('refuses a child that would wait for its own parent, or for what waits for the parent', async () => {
    const graph = await flows.graph({ parent: [], later: ['parent'] })
    const holder = await graph.claim('parent')
    const awaited = {}

    for (const after of ['parent', 'later']) {
      const { code } = await refusal(fabric, () => graph.add('child', { holder, awaited, after: [after] }))
      expect(code).toBe('cycle_detected')
    }
  })

  test('refuses a quorum of a sealed flow that is larger than its group, since the group can no longer grow', async () => {
    const graph = await flows.graph({ parent: [], other: [] })
    const holder = await graph.claim('parent')

    const { code } = await refusal(fabric, () => graph.add('child', { holder, after: ['other'], policy: quorum(2) }))

    expect(code).toBe('unreachable_quorum')
  })

  test('resolves at once what the holder is to wait for and what has ended', async () => {
    const graph = await flows.graph({ parent: [] })
    const holder = await graph.claim('parent')
    const done = await given.endedExecution()

    await graph.add('done', { executionId: done.executionId, holder, awaited: {} })

    expect(await graph.group('parent')).toMatchObject({ total: 1, completed: 1, verdict: 'satisfied' })
  })

  test('refuses a holder whose lease is over, who is in another flow, or who does not exist', async () => {
    const graph = await flows.graph({ parent: [] })
    const other = await flows.graph({ x: [] })
    const stranger = await other.claim('x')
    const holder = await graph.claim('parent')
    const nobody = { ...holder, executionId: given.newId() }

    expect((await refusal(fabric, () => graph.add('c', { holder: stranger }))).code).toBe('execution_not_in_flow')
    expect((await refusal(fabric, () => graph.add('c', { holder: nobody }))).code).toBe('execution_not_found')
    const stale = { ...holder, fence: { ...holder.fence, leaseId: given.requestId() } }
    expect((await refusal(fabric, () => graph.add('c', { holder: stale }))).code).toBe('stale_lease')
    clock.advance(LEASE_TTL_MS)
    expect((await refusal(fabric, () => graph.add('c', { holder }))).code).toBe('lease_expired')
  })

  test('refuses to await without a waiting holder, and a group that is already decided', async () => {
    const graph = await flows.graph({ a: [], parent: ['a'] }, { policies: { parent: anyOf } })
    await graph.complete('a')
    const holder = await graph.claim('parent')
    const open = await flows.open()

    expect((await refusal(fabric, () => open.add('c', { awaited: {} }))).code).toBe('invalid_input')
    expect((await refusal(fabric, () => graph.add('c', { holder, awaited: {} }))).code).toBe('edge_group_already_fired')
  })

  test('refuses a second payload for the holder', async () => {
    const graph = await flows.graph({ parent: [] })
    const holder = await graph.claim('parent')
    const awaited = { hands: { as: 'payload' } } as const
    await graph.add('a', { holder, awaited })

    expect((await refusal(fabric, () => graph.add('b', { holder, awaited }))).code).toBe('invalid_input')
  })
})
