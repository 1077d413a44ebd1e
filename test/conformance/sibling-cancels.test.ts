/** Those that lost are cancelled once each, as many as fit at once, the rest by the due pass; the reconciler cancels none. */
import { expect, test } from 'vitest'
import { SIBLING_CANCELS_INDEX } from '../../src/kernel/index.ts'
import type { Execution } from '../../src/kernel/index.ts'
import { anyOf, anyOfLettingRun, names, nodes, quorum } from './given-flow.ts'
import { CLASS, LANE, heldOf } from './given.ts'
import type { Graph } from './graph.ts'
import { conforms } from './harness.ts'

conforms('cancels of those that lost', ({ fabric, flows, given }) => {
  const outcomes = async () => (await fabric.run('reconcileSiblingCancels', {})).outcomes.map(({ outcome }) => outcome)

  /** A race that was decided with many losers; the winner is `s0`. */
  const decidedRace = async (count: number): Promise<Graph> => {
    const siblings = names('s', count)
    const drafts = { s0: { class: 'winner' } }
    const graph = await flows.graph(
      { ...nodes(siblings), z: siblings },
      { policies: { z: anyOf }, class: CLASS, drafts },
    )
    const { executions } = await given.claim({ queues: [{ lane: LANE, class: 'winner' }] })
    await fabric.run('completeExecution', heldOf(executions[0]!))
    return graph
  }

  test('of 49 losers are all done in the operation that decided, with the right reason', async () => {
    const graph = await decidedRace(50)
    await flows.drain()

    const ended = await Promise.all(names('s', 50).map((name) => graph.endOf(name)))
    expect(ended[0]).toBe('completed')
    expect(new Set(ended.slice(1))).toEqual(new Set(['cancelled,sibling_quorum_satisfied,flow']))
    expect((await graph.view()).flow.counts).toMatchObject({ superseded: 49, waiting: 1 })
  })

  test('of 199 losers continue in the due pass, each once, and nothing stays owed', async () => {
    const graph = await decidedRace(200)
    expect(await graph.state('z')).toBe('waiting')
    const first = (await graph.view()).flow.counts.superseded
    expect(first).toBeGreaterThan(0)
    expect(first).toBeLessThan(199)

    expect(new Set(await flows.drain())).toEqual(new Set(['edge_cancel_dispatcher', 'edge_dispatcher']))

    expect((await graph.view()).flow.counts).toMatchObject({ superseded: 199, completed: 1 })
    expect(await graph.group('z')).toMatchObject({ completed: 1, failed: 199 })
    const cancels = (await fabric.events()).filter((event) => event.type === 'execution_ended' && event.by === 'flow')
    expect(new Set(cancels.map((event) => event.executionId)).size).toBe(cancels.length)
    expect(await flows.due()).toEqual([])
  })

  test('of eight groups that are decided together are all done', async () => {
    const groups = names('z', 8)
    const shape = Object.fromEntries(groups.flatMap((z) => names(`${z}-s`, 4).map((name) => [name, []])))
    const joined = Object.fromEntries(groups.map((z) => [z, ['go', ...names(`${z}-s`, 4)]]))
    const policies = Object.fromEntries(groups.map((z) => [z, anyOf]))
    const graph = await flows.graph({ go: [], ...shape, ...joined }, { policies })

    await graph.complete('go')
    await flows.drain()

    expect(await graph.states(...groups)).toEqual(groups.map(() => 'waiting'))
    expect((await graph.view()).flow.counts).toMatchObject({ superseded: 32, waiting: 8 })
    expect(await flows.due()).toEqual([])
  })

  test('spare one that another group still needs, and take it when that group is decided too', async () => {
    const graph = await flows.graph(
      { a: [], shared: [], c: [], y: ['a', 'shared'], z: ['shared', 'c'] },
      { policies: { y: anyOf, z: anyOf } },
    )

    await graph.complete('a')
    expect(await graph.states('shared', 'y', 'z')).toEqual(['waiting', 'waiting', 'waiting_dependencies'])
    await graph.complete('c')

    expect(await graph.endOf('shared')).toBe('cancelled,sibling_quorum_satisfied,flow')
    expect(await graph.state('z')).toBe('waiting')
  })

  test('spare one that a group of all needs, and take it when that group fails for another reason', async () => {
    const graph = await flows.graph(
      { a: [], shared: [], c: [], y: ['a', 'shared'], z: ['shared', 'c'] },
      { policies: { y: anyOf } },
    )
    await graph.complete('a')
    expect(await graph.state('shared')).toBe('waiting')

    await graph.fail('c')

    expect(await graph.states('shared', 'z')).toEqual(['cancelled', 'skipped'])
  })

  test('take one that is no longer needed once the member that still waited for it has ended', async () => {
    const graph = await flows.graph(
      { a: [], shared: [], c: [], y: ['a', 'shared'], z: ['shared', 'c'] },
      { policies: { y: anyOf } },
    )
    await graph.complete('a')
    expect(await graph.state('shared')).toBe('waiting')

    await graph.cancelMember('z')

    expect(await graph.states('shared', 'c', 'z')).toEqual(['cancelled', 'waiting', 'cancelled'])
  })

  test('spare all losers where the groups let them run', async () => {
    const graph = await flows.graph(
      { a: [], shared: [], y: ['a', 'shared'], z: ['a', 'shared'] },
      { policies: { y: anyOfLettingRun, z: anyOfLettingRun } },
    )

    await graph.complete('a')

    expect(await graph.states()).toEqual(['completed', 'waiting', 'waiting', 'waiting'])
  })

  test.each([
    ['the satisfied one stands first', { y: ['win', 'shared'], z: ['lose', 'shared'] }],
    ['the impossible one stands first', { z: ['lose', 'shared'], y: ['win', 'shared'] }],
  ])('of one that lost to a satisfied and to an impossible group blame the satisfied: %s', async (_, groups) => {
    const policies = { y: anyOf, z: quorum(2) }
    const graph = await flows.graph({ win: [], lose: [], shared: [], ...groups }, { policies })
    await graph.fail('lose')

    await graph.complete('win')

    expect(await graph.endOf('shared')).toBe('cancelled,sibling_quorum_satisfied,flow')
  })

  test('take what was already cancelled, ended or skipped as done', async () => {
    const graph = await flows.graph(
      { a: [], b: [], c: [], d: ['b'], z: ['a', 'b', 'c', 'd'] },
      { policies: { z: anyOf } },
    )
    await graph.cancelMember('c')
    await graph.fail('b')

    await graph.complete('a')

    expect(await graph.states()).toEqual(['completed', 'failed', 'cancelled', 'skipped', 'waiting'])
    expect(await flows.due()).toEqual([])
  })

  test('are left alone by the reconciler while one that lost lives, however often it looks', async () => {
    const graph = await decidedRace(200)
    const before = await fabric.dump()

    for (let tick = 0; tick < 3; tick++) expect(await outcomes()).toEqual(['no_op'])
    expect(await fabric.dump()).toEqual(before)
    await flows.drain()

    expect(await outcomes()).toEqual([])
    expect((await graph.view()).flow.counts.superseded).toBe(199)
  })

  test('that were all done but not noted are noted by the reconciler', async () => {
    const graph = await flows.graph({ a: [], b: [], z: ['a', 'b'] }, { policies: { z: anyOf } })
    await graph.complete('a')
    await fabric.plant(owing(await graph.look('z'), ''))

    expect(await outcomes()).toEqual(['completed_drain'])
    expect(await outcomes()).toEqual([])
    expect((await graph.group('z'))?.owedFrom).toBeUndefined()
  })

  test('that are not owed are taken off the list, and so is what is no id at all', async () => {
    const graph = await flows.graph({ a: [], b: [], z: ['a', 'b'] }, { policies: { z: anyOf } })
    await fabric.setEntry(SIBLING_CANCELS_INDEX, graph.id('z'), 1)
    await fabric.setEntry(SIBLING_CANCELS_INDEX, '0-018bcfe5-6800-7000-8000-000000000000', 2)
    await fabric.setEntry(SIBLING_CANCELS_INDEX, 'nonsense', 3)

    expect(await outcomes()).toEqual(['removed_stale', 'removed_stale', 'malformed'])
    expect(await outcomes()).toEqual([])
  })

  test('are looked at in pages that continue from a position, so that nothing starves', async () => {
    for (let i = 0; i < 60; i++) await fabric.setEntry(SIBLING_CANCELS_INDEX, `nonsense${i}`, i)

    const first = await fabric.run('reconcileSiblingCancels', {})
    const second = await fabric.run('reconcileSiblingCancels', { from: first.next })

    expect([first.outcomes.length, second.outcomes.length, second.next]).toEqual([50, 10, undefined])
  })
})

/** A member whose decided group remembers that it owes cancels. */
function owing(execution: Execution, owedFrom: string): Execution {
  const { member } = execution
  if (member?.group === undefined) throw new Error('the test needs a member with a group')
  return { ...execution, member: { ...member, group: { ...member.group, owedFrom } } }
}
