/** Members that run whatever the outcome of an upstream: groups that wait for ends, and edges that tolerate a failure. */
import { describe, expect, test } from 'vitest'
import { anyOf, ended, input, names, nodes, quorum, tolerated } from './given-flow.ts'
import { permanentFailure } from './given.ts'
import { conforms } from './harness.ts'

conforms('a member that runs whatever the outcome', ({ fabric, flows, clock }) => {
  describe('waits for the end of all its upstreams', () => {
    const shape = { a: [], b: [], c: ['b'], d: [], report: ['a', 'b', 'c', 'd'].map((name) => input(name)) }

    test('and then gets each outcome', async () => {
      const graph = await flows.graph(shape, { policies: { report: ended } })
      await graph.completeWith('a', Buffer.from('1'))
      await graph.fail('b')
      expect(await graph.states('c', 'report')).toEqual(['skipped', 'waiting_dependencies'])

      await graph.cancelMember('d')

      expect(await graph.state('report')).toBe('waiting')
      const { inputs } = await graph.claimed('report')
      expect(Object.fromEntries(inputs.map(({ name, result, end }) => [name, { size: result?.size, ...end }]))).toEqual(
        {
          a: { size: 1, outcome: 'completed', error: undefined },
          b: {
            size: undefined,
            outcome: 'failed',
            error: { code: 'permanent', message: permanentFailure.failure.message },
          },
          c: { size: undefined, outcome: 'skipped', error: { code: 'dependency_impossible', message: undefined } },
          d: { size: undefined, outcome: 'cancelled', error: { code: 'cancelled', message: 'not needed' } },
        },
      )
      expect(await graph.group('report')).toMatchObject({ completed: 1, failed: 2, skipped: 1, tolerated: 3 })
    })

    test('and does not keep the flow from failing', async () => {
      const graph = await flows.graph({ a: [], report: ['a'] }, { policies: { report: ended } })
      await graph.fail('a')
      await graph.complete('report')

      expect((await graph.view()).state).toBe('failed')
    })

    test('which may be the only one that counts', async () => {
      const graph = await flows.graph(
        { a: [], report: ['a'] },
        { policies: { report: ended }, flow: { outcomeRule: 'sinks' } },
      )
      await graph.fail('a')
      await graph.complete('report')

      expect((await graph.view()).state).toBe('completed')
    })

    test('and does not keep the losers of a race', async () => {
      const five = names('s', 5)
      const graph = await flows.graph(
        { ...nodes(five), z: five, report: [...five, 'z'] },
        { policies: { z: anyOf, report: ended } },
      )

      await graph.complete('s0')
      await graph.complete('z')

      expect(await graph.states(...five.slice(1))).toEqual(five.slice(1).map(() => 'cancelled'))
      expect(await graph.state('report')).toBe('waiting')
      await graph.complete('report')
      expect((await graph.view()).state).toBe('completed')
    })

    test('of which there are more than one operation can count', async () => {
      const many = names('m', 230)
      const graph = await flows.graph(
        { root: [], ...nodes(many, ['root']), report: many.map((name) => input(name)) },
        { policies: { report: ended }, class: 'many' },
      )
      const held = await graph.claim('root')
      await fabric.run('failExecution', { ...held, failure: { category: 'permanent', message: 'no luck' }, seed: 1 })
      await flows.drain()

      expect(await graph.state('report')).toBe('waiting')
      expect(await graph.group('report')).toMatchObject({ total: 230, skipped: 230, tolerated: 230 })
      const { inputs, inputsFrom } = await graph.claimed('report')
      const rest = await fabric.run('readInputs', { executionId: graph.id('report'), from: inputsFrom })
      expect(inputs.length + (rest.kind === 'read' ? rest.page.inputs.length : 0)).toBeGreaterThan(100)
    })

    test('not in a flow that was cancelled with its members', async () => {
      const graph = await flows.graph({ a: [], report: ['a'] }, { policies: { report: ended } })
      await graph.cancel()

      expect(await graph.states()).toEqual(['cancelled', 'cancelled'])
    })

    test('and takes another edge before it has started', async () => {
      const graph = await flows.open(['a', 'b'])
      await graph.add('report', { after: ['a'], policy: ended })
      await graph.fail('a')
      expect(await graph.state('report')).toBe('waiting')

      expect(await graph.link(input('b'), 'report')).toMatchObject({ kind: 'added', downstream: 'blocked' })
      expect(await graph.link({ from: 'b', hands: { as: 'payload' } }, 'report')).toMatchObject({ kind: 'refused' })
      await graph.fail('b')

      expect((await graph.claimed('report')).inputs).toMatchObject([{ name: 'b', end: { outcome: 'failed' } }])
    })

    test('and is not run again by the replay of an upstream, but sees its new outcome', async () => {
      const graph = await flows.graph({ a: [], report: [input('a')] }, { policies: { report: ended } })
      await graph.fail('a')
      await graph.replay('a', { subtree: true })
      expect((await graph.claimed('report')).inputs).toMatchObject([
        { end: { outcome: 'failed', error: { code: 'replayed' } } },
      ])
      await graph.complete('report')
      await graph.complete('a')
      expect((await graph.view()).state).toBe('completed')

      await graph.replay('report')

      expect((await graph.claimed('report')).inputs).toMatchObject([{ end: { outcome: 'completed' } }])
    })
  })

  describe('tolerates the failure of an upstream', () => {
    test.each([
      ['continue', 'failed'],
      ['ignore', 'completed'],
    ] as const)('with %s, after which the flow has %s', async (onFailure, state) => {
      const graph = await flows.graph({ a: [], b: [], z: [input('a'), tolerated('b', onFailure)] })
      await graph.fail('b')
      expect(await graph.state('z')).toBe('waiting_dependencies')
      await graph.complete('a')

      const { inputs } = await graph.claimed('z')
      expect(inputs.map(({ name, end }) => [name, end?.outcome]).sort()).toEqual([
        ['a', undefined],
        ['b', 'failed'],
      ])
      await graph.complete('z')
      expect((await graph.view()).state).toBe(state)
    })

    test('and is skipped if another upstream fails that it needs', async () => {
      const graph = await flows.graph({ a: [], b: [], z: ['a', tolerated('b')] })
      await graph.fail('b')
      await graph.fail('a')

      expect(await graph.endOf('z')).toBe('skipped,dependency_impossible,a')
    })

    test.each([
      ['any_of', anyOf, ['b']],
      ['quorum', quorum(2), ['b', 'c']],
    ] as const)('in %s, where its end counts like a success', async (_, policy, failing) => {
      const graph = await flows.graph(
        { a: [], b: [], c: [], z: ['a', tolerated('b'), tolerated('c')] },
        { policies: { z: policy } },
      )

      await graph.fail(...failing)

      expect(await graph.state('z')).toBe('waiting')
      expect(await graph.endOf('a')).toBe('cancelled,sibling_quorum_satisfied,flow')
    })

    test('as an edge says that is added after the failure', async () => {
      const graph = await flows.open(['a'])
      await graph.fail('a')
      expect((await graph.view()).state).toBe('failed')

      await graph.add('z', { after: [tolerated('a', 'ignore')] })
      await graph.complete('z')
      await graph.seal()

      expect((await graph.view()).flow.state).toMatchObject({ phase: 'ended', outcome: 'completed' })
      const again = await graph.link(tolerated('a', 'continue'), 'z')
      expect(again).toMatchObject({ kind: 'refused', code: 'dependency_already_exists' })
    })

    test('and counts it again after a replay', async () => {
      const graph = await flows.graph({ a: [], z: [tolerated('a', 'ignore')] })
      await graph.fail('a')
      await graph.complete('z')
      expect((await graph.view()).flow).toMatchObject({ ignoredCount: 1, state: { outcome: 'completed' } })

      clock.advance(1)
      await graph.replay('a')
      expect((await graph.view()).flow).toMatchObject({ ignoredCount: 0, state: { phase: 'sealed' } })
      await graph.complete('a')

      expect((await graph.view()).state).toBe('completed')
    })

    test('of many, in several calls', async () => {
      const many = names('m', 130)
      const graph = await flows.graph(
        { ...nodes(many), z: many.map((name) => tolerated(name, 'ignore')) },
        { class: 'many' },
      )
      expect((await graph.look('m129')).member?.mayFail).toBe(true)
    })

    test('but not with the outcome as its payload', async () => {
      const graph = await flows.open(['a', 'z'])
      const hands = { as: 'payload' } as const

      expect(await graph.link({ from: 'a', hands, onFailure: 'ignore' }, 'z')).toMatchObject({
        kind: 'refused',
        code: 'invalid_input',
      })
      expect(await graph.add('y', { after: [{ from: 'a', hands, onFailure: 'continue' }] })).toMatchObject({
        code: 'invalid_input',
      })
    })
  })
})
