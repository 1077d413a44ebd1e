/** Replays inside a flow: a member, what was skipped after it, and the flow that had ended with them. */
import { expect, test } from 'vitest'
import { REPLAY_CAP } from '../../src/kernel/index.ts'
import { anyOf, anyOfLettingRun, chain, names, nodes, quorum } from './given-flow.ts'
import { CLASS } from './given.ts'
import { conforms } from './harness.ts'
import { refusal } from './refusal.ts'

conforms('replayExecution of a member', ({ fabric, flows, given }) => {
  test('runs it again and keeps its earlier effects: an edge resolves once', async () => {
    const graph = await flows.graph({ a: [], b: ['a'] })
    await graph.complete('a')

    expect(await graph.replay('a')).toEqual({ kind: 'replayed', replayCount: 1 })
    expect(await graph.states()).toEqual(['waiting', 'waiting'])
    await graph.fail('a')

    expect(await graph.edge('a', 'b')).toBe('satisfied')
    expect(await graph.states()).toEqual(['failed', 'waiting'])
  })

  test('reopens a flow that had ended, which ends again with its last member', async () => {
    const graph = await flows.graph({ a: [], b: [] })
    await graph.complete('a')
    await graph.fail('b')
    expect((await graph.view()).state).toBe('failed')

    await graph.replay('b')
    expect(await graph.view()).toMatchObject({ state: 'running', settled: false, flow: { state: { phase: 'sealed' } } })
    await graph.complete('b')

    expect((await graph.view()).state).toBe('completed')
    const told = (await fabric.events()).filter((event) => event.executionId === (graph.flowId as string))
    expect(told.map((event) => event.type)).toEqual([
      'flow_created',
      'flow_sealed',
      'flow_ended',
      'flow_reopened',
      'flow_ended',
    ])
  })

  test('that was skipped is refused as long as the one that failed has not been replayed, and names it', async () => {
    const graph = await flows.graph({ a: [], b: ['a'], c: ['b'] })
    await graph.fail('a')

    expect(await refusal(fabric, () => graph.replay('b'))).toEqual({
      code: 'upstream_not_replayed',
      detail: { flowId: graph.flowId, executionId: graph.id('a'), nodes: ['a'] },
    })
    expect((await refusal(fabric, () => graph.replay('c'))).detail).toMatchObject({ executionId: graph.id('b') })
  })

  test('by member from top to bottom ends like a first success', async () => {
    const graph = await flows.graph({ a: [], b: ['a'], c: ['b'] })
    await graph.fail('a')

    for (const name of ['a', 'b', 'c']) expect((await graph.replay(name)).kind).toBe('replayed')
    expect(await graph.states()).toEqual(['waiting', 'waiting_dependencies', 'waiting_dependencies'])
    expect(await graph.edge('a', 'b')).toBe('open')
    await graph.complete('a', 'b', 'c')

    expect((await graph.view()).flow.counts).toMatchObject({ completed: 3, skipped: 0, failed: 0 })
  })

  test('that was skipped runs at once if all that it waits for has completed meanwhile', async () => {
    const graph = await flows.graph({ a: [], b: ['a'] })
    await graph.fail('a')
    await graph.replay('a')
    await graph.complete('a')
    expect(await graph.state('b')).toBe('skipped')

    await graph.replay('b')

    expect(await graph.state('b')).toBe('waiting')
    expect(await graph.edge('a', 'b')).toBe('satisfied')
  })

  test('lets a group that chooses choose again', async () => {
    const graph = await flows.graph({ a: [], b: [], z: ['a', 'b'] }, { policies: { z: quorum(2) } })
    await graph.fail('a')
    expect(await graph.states()).toEqual(['failed', 'cancelled', 'skipped'])

    await graph.replay('a')
    await graph.replay('b')
    await graph.replay('z')
    expect(await graph.group('z')).toMatchObject({ completed: 0, failed: 0, verdict: 'pending' })
    await graph.complete('a', 'b')

    expect(await graph.group('z')).toMatchObject({ completed: 2, failed: 0, verdict: 'satisfied' })
    expect(await graph.state('z')).toBe('waiting')
  })

  test('whose group was satisfied is not judged again', async () => {
    const graph = await flows.graph({ a: [], b: [], z: ['a', 'b'] }, { policies: { z: anyOfLettingRun } })
    await graph.complete('a')
    await graph.fail('z', 'b')

    await graph.replay('z')

    expect(await graph.state('z')).toBe('waiting')
  })

  test('that nothing leads to runs again, whatever policy it was given for edges that never came', async () => {
    const graph = await flows.open()
    await graph.add('a', { policy: quorum(2) })
    await graph.fail('a')
    await graph.seal()

    expect((await graph.replay('a')).kind).toBe('replayed')
    await graph.complete('a')

    expect((await graph.view()).state).toBe('completed')
  })

  test('repeated replays once; in a cancelled flow it is refused', async () => {
    const graph = await flows.graph({ a: [], b: [] })
    await graph.fail('a')
    const requestId = given.requestId()

    expect((await graph.replay('a', { requestId })).kind).toBe('replayed')
    expect(await graph.replay('a', { requestId })).toEqual({ kind: 'already_replayed', replayCount: 1 })
    await graph.cancel()
    expect((await refusal(fabric, () => graph.replay('a'))).code).toBe('flow_ended')
  })

  test('is refused if it lives, and when it was replayed too often', async () => {
    const graph = await flows.graph({ a: [], b: [] })
    expect((await refusal(fabric, () => graph.replay('b'))).code).toBe('execution_not_ended')
    await graph.fail('a')
    for (let i = 0; i < REPLAY_CAP; i++) {
      await graph.replay('a')
      await graph.fail('a')
    }

    expect((await refusal(fabric, () => graph.replay('a'))).code).toBe('replays_exhausted')
  })

  test('is refused while its flow is being removed', async () => {
    const graph = await flows.graph(nodes(names('n', 120)), { class: CLASS, flow: { retentionMs: 0 } })
    for (let i = 0; i < 3; i++) {
      const { executions } = await given.claim({ count: 50 })
      for (const { executionId, fence } of executions) await fabric.run('completeExecution', { executionId, fence })
    }
    await fabric.run('purgeExecutions', {})
    expect(await fabric.exists(graph.id('n119'))).toBe(true)

    expect((await refusal(fabric, () => graph.replay('n119'))).code).toBe('flow_ended')
  })
})

conforms('replayExecution of a subtree', ({ fabric, flows }) => {
  test('brings back all that was skipped behind a failure, and ends like a first success', async () => {
    const graph = await flows.graph({ a: [], b: ['a'], c: ['a'], d: ['b', 'c'], other: [], e: ['other'] })
    await graph.fail('a', 'other')

    await graph.replay('a', { subtree: true })
    expect(await graph.states()).toEqual([
      'waiting',
      'waiting_dependencies',
      'waiting_dependencies',
      'waiting_dependencies',
      'failed',
      'skipped',
    ])
    await graph.complete('a', 'b', 'c', 'd')

    expect((await graph.view()).flow.counts).toMatchObject({ completed: 4, failed: 1, skipped: 1 })
  })

  test('leaves what another failure still makes impossible', async () => {
    const graph = await flows.graph({ a: [], x: [], b: ['a'], c: ['b', 'x'] })
    await graph.fail('a', 'x')

    await graph.replay('a', { subtree: true })

    expect(await graph.states()).toEqual(['waiting', 'failed', 'waiting_dependencies', 'skipped'])
  })

  test('that fails again skips again', async () => {
    const links = names('n', 5)
    const graph = await flows.graph(chain(links))
    await graph.fail('n0')
    await graph.replay('n0', { subtree: true })

    await graph.fail('n0')

    expect(await graph.states()).toEqual(['failed', ...Array.from({ length: 4 }, () => 'skipped')])
    expect((await graph.view()).state).toBe('failed')
  })

  test('brings back groups of every policy', async () => {
    const graph = await flows.graph(
      { a: [], b: [], any: ['a', 'b'], q: ['a', 'b', 'any'], z: ['q'] },
      { policies: { any: anyOf, q: quorum(2, 'let_run') } },
    )
    await graph.fail('a', 'b')
    expect(await graph.states()).toEqual(['failed', 'failed', 'skipped', 'skipped', 'skipped'])

    await graph.replay('a', { subtree: true })
    expect(await graph.states()).toEqual([
      'waiting',
      'failed',
      'waiting_dependencies',
      'waiting_dependencies',
      'waiting_dependencies',
    ])
    await graph.complete('a', 'any', 'q', 'z')

    expect((await graph.view()).flow.counts).toMatchObject({ completed: 4, failed: 1 })
  })

  test('of more members than one call replays continues in the due pass, and its root waits until all are back', async () => {
    const fan = names('w', 150)
    const graph = await flows.graph({ a: [], ...nodes(fan, ['a']), z: fan }, { class: CLASS })
    await graph.fail('a')
    await flows.drain()
    expect((await graph.view()).flow).toMatchObject({ state: { phase: 'ended' }, counts: { skipped: 151, failed: 1 } })

    await graph.replay('a', { subtree: true })
    expect((await graph.look('a')).state).toEqual({ phase: 'blocked', by: 'hold', gate: undefined })
    expect((await refusal(fabric, () => graph.replay('w149'))).code).toBe('flow_busy')
    expect(new Set(await flows.drain())).toEqual(new Set(['flow_replay']))

    expect((await graph.view()).flow).toMatchObject({
      state: { phase: 'sealed' },
      counts: { waiting: 1, waiting_dependencies: 151, skipped: 0 },
    })
    expect((await graph.look('a')).state).toEqual({ phase: 'eligible' })
  })

  test('keeps no member held while the flow itself is being released', async () => {
    const { graph, calls } = flows.draw(nodes(names('r', 240)), { class: CLASS })
    for (const call of calls) await fabric.run('submitFlow', call)
    await graph.cancelMember('r0')
    expect((await graph.look('r239')).state).toEqual({ phase: 'blocked', by: 'hold', gate: undefined })

    const early = await graph.replay('r0', { subtree: true })
    await flows.drain()
    if (early.kind === 'refused') await graph.replay('r0', { subtree: true })
    await flows.drain()

    expect((await graph.look('r239')).state).toEqual({ phase: 'eligible' })
    expect((await graph.look('r0')).state).toEqual({ phase: 'eligible' })
  })

  test('takes a cancel while it is under way', async () => {
    const fan = names('w', 150)
    const graph = await flows.graph({ a: [], ...nodes(fan, ['a']) }, { class: CLASS })
    await graph.cancelMember('a')
    await flows.drain()
    await graph.replay('a', { subtree: true })

    await graph.cancel()
    await flows.drain()

    expect(await graph.view()).toMatchObject({ state: 'cancelled', settled: true })
    expect(await graph.state('a')).toBe('cancelled')
  })
})
