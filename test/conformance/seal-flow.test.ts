/** Sealing: the graph is closed, what was held begins, and from here on the flow ends with its last member. */
import { expect, test } from 'vitest'
import { anyOf, names, quorum } from './given-flow.ts'
import { CLASS } from './given.ts'
import { conforms } from './harness.ts'
import { refusal } from './refusal.ts'

conforms('sealFlow', ({ fabric, flows, clock }) => {
  test('closes the graph, once', async () => {
    const graph = await flows.open(['a'])

    expect(await graph.seal()).toEqual({ kind: 'sealed', state: 'open', memberCount: 1 })
    const before = await fabric.dump()
    expect(await graph.seal()).toEqual({ kind: 'already_sealed', state: 'open', memberCount: 1 })

    expect(await fabric.dump()).toEqual(before)
    await graph.complete('a')
    expect((await graph.view()).flow.state).toEqual({ phase: 'ended', outcome: 'completed', at: clock.now() })
    expect((await graph.seal()).kind).toBe('already_sealed')
  })

  test('of a flow whose members have all ended ends it in the same call', async () => {
    const graph = await flows.open(['a', 'b'])
    await graph.complete('a')
    await graph.fail('b')

    expect(await graph.seal()).toMatchObject({ kind: 'sealed', state: 'failed' })
    expect((await fabric.events()).at(-1)).toMatchObject({
      type: 'flow_ended',
      outcome: 'failed',
      executionId: graph.flowId,
    })
  })

  test('releases what was held: roots, delays, and what was decided meanwhile', async () => {
    const graph = await flows.held(['a', 'lost'])
    await graph.add('slow', { draft: { delayMs: 60_000 } })
    await graph.add('b', { after: ['a'] })
    await graph.add('c', { after: ['lost'] })
    await graph.add('d', { after: ['c'] })
    await graph.cancelMember('lost')
    expect(await graph.states()).toEqual([
      'waiting',
      'cancelled',
      'waiting',
      'waiting_dependencies',
      'waiting_dependencies',
      'waiting_dependencies',
    ])

    await graph.seal()

    expect(await graph.states()).toEqual([
      'waiting',
      'cancelled',
      'delayed',
      'waiting_dependencies',
      'skipped',
      'skipped',
    ])
  })

  test('lets a large held flow go over several calls', async () => {
    const graph = await flows.held()
    await Promise.all(names('n', 150).map((name) => graph.add(name, { draft: { class: CLASS } })))

    await graph.seal()
    const { counts } = (await graph.view()).flow
    expect(new Set(await flows.drain())).toEqual(new Set(['flow_release']))

    expect(counts.waiting).toBe(150)
    const ready = (await fabric.dump()).entries.filter((entry) => entry.index.startsWith('ready'))
    expect(ready).toHaveLength(150)
  })

  test('refuses a group that can never be satisfied, and names it; with one more edge it is taken', async () => {
    const graph = await flows.open(['a', 'b'])
    await graph.add('q', { after: ['a'], policy: quorum(2) })
    await graph.add('z', { policy: anyOf })

    expect(await refusal(fabric, () => graph.seal())).toEqual({
      code: 'unreachable_quorum',
      detail: { flowId: graph.flowId, nodes: ['q', 'z'] },
    })
    await graph.link('b', 'q')
    await graph.link('b', 'z')
    expect((await graph.seal()).kind).toBe('sealed')
  })

  test('refuses a flow that was cancelled or that does not exist', async () => {
    const graph = await flows.open(['a'])
    await graph.cancel()

    expect((await refusal(fabric, () => graph.seal())).code).toBe('flow_ended')
    const unknown = { flowId: flows.newId() }
    expect((await refusal(fabric, () => fabric.run('sealFlow', unknown))).code).toBe('flow_not_found')
  })
})

conforms('the end of a flow', ({ fabric, flows, clock }) => {
  test('comes with its last member, in the same operation, and emits one event', async () => {
    const graph = await flows.graph({ a: [], b: ['a'] })
    await graph.complete('a')
    expect((await graph.view()).state).toBe('running')
    clock.advance(5)

    await graph.complete('b')

    expect(await graph.view()).toMatchObject({ state: 'completed', settled: true, liveCount: 0 })
    expect((await fabric.events()).slice(-2).map((event) => event.type)).toEqual(['execution_ended', 'flow_ended'])
  })

  test('is a failure if any member failed, unless only its sinks count', async () => {
    const shape = { a: [], b: [], sum: ['a', 'b'] }
    const policies = { sum: { policy: 'any_of', losers: 'let_run' } } as const
    const strict = await flows.graph(shape, { policies })
    const lenient = await flows.graph(shape, { policies, flow: { outcomeRule: 'sinks' } })

    for (const graph of [strict, lenient]) {
      await graph.fail('a')
      await graph.complete('b', 'sum')
    }

    expect((await strict.view()).state).toBe('failed')
    expect((await lenient.view()).state).toBe('completed')
  })

  test('by its sinks is a failure if one of them was skipped, failed or cancelled', async () => {
    const graph = await flows.graph({ a: [], b: ['a'], c: [] }, { flow: { outcomeRule: 'sinks' } })

    await graph.fail('a')
    await graph.complete('c')

    expect((await graph.view()).flow).toMatchObject({
      failedSinkCount: 1,
      state: { phase: 'ended', outcome: 'failed' },
    })
  })

  test('forgets a failed sink that has become none', async () => {
    const graph = await flows.open(['a', 'b'], { outcomeRule: 'sinks' })
    await graph.fail('a')
    expect((await graph.view()).flow.failedSinkCount).toBe(1)
    await graph.add('c', { after: ['a', 'b'], policy: anyOf })
    await graph.seal()

    await graph.complete('b', 'c')

    expect((await graph.view()).state).toBe('completed')
  })

  test('is not spoilt by those that lost to a satisfied group', async () => {
    const graph = await flows.graph({ a: [], b: [], c: ['a', 'b'] }, { policies: { c: anyOf } })

    await graph.complete('a', 'c')

    expect((await graph.view()).flow).toMatchObject({
      state: { phase: 'ended', outcome: 'completed' },
      counts: { completed: 2, superseded: 1, cancelled: 0 },
    })
  })

  test('is read from its members at every step: open, running, blocked, completed', async () => {
    const graph = await flows.graph({ a: [], b: ['a'], c: ['b'] }, { drafts: { b: { delayMs: 60_000 } } })
    const seen = [(await graph.view()).state]
    await graph.claim('a')
    seen.push((await graph.view()).state)
    await graph.complete('a')
    seen.push((await graph.view()).state)
    clock.advance(60_000)
    await flows.drain()
    seen.push((await graph.view()).state)
    await graph.complete('b', 'c')
    seen.push((await graph.view()).state)

    expect(seen).toEqual(['open', 'running', 'blocked', 'running', 'completed'])
  })
})
