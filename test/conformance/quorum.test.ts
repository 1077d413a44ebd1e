/** Groups that need some of their upstreams: when they are decided, and what becomes of the others. */
import { expect, test } from 'vitest'
import { anyOf, anyOfLettingRun, input, names, quorum } from './given-flow.ts'
import { conforms } from './harness.ts'

const five = names('s', 5)
const race = { ...Object.fromEntries(five.map((name) => [name, []])), z: five }

conforms('a group that needs some', ({ fabric, flows, clock }) => {
  test.each([
    ['any_of', anyOf, 1],
    ['quorum of 3', quorum(3), 3],
  ] as const)('%s is satisfied by enough successes, and cancels the others at once', async (_, policy, need) => {
    const graph = await flows.graph(race, { policies: { z: policy } })
    await graph.complete(...five.slice(0, need - 1))
    expect(await graph.state('z')).toBe('waiting_dependencies')

    await graph.complete(five[need - 1]!)

    expect(await graph.state('z')).toBe('waiting')
    for (const loser of five.slice(need)) {
      expect(await graph.endOf(loser)).toBe('cancelled,sibling_quorum_satisfied,flow')
    }
    expect(await graph.group('z')).toMatchObject({ completed: need, failed: 5 - need, verdict: 'satisfied' })
    expect((await graph.view()).flow.counts).toMatchObject({ superseded: 5 - need, cancelled: 0 })
    expect(await flows.due()).toEqual([])
  })

  test.each([
    ['any_of', anyOfLettingRun, 1],
    ['quorum of 3', quorum(3, 'let_run'), 3],
  ] as const)('%s that lets the others run only counts how they end', async (_, policy, need) => {
    const graph = await flows.graph(race, { policies: { z: policy } })
    await graph.complete(...five.slice(0, need))
    const decidedAt = (await graph.group('z'))?.decidedAt
    expect(await graph.states(...five.slice(need))).toEqual(five.slice(need).map(() => 'waiting'))

    clock.advance(10)
    await graph.complete('s3')
    await graph.fail('s4')

    const late = need === 1 ? ['s1', 's2'] : []
    await graph.complete(...late)
    expect(await graph.group('z')).toMatchObject({ completed: 4, failed: 1, verdict: 'satisfied', decidedAt })
    expect(await graph.state('z')).toBe('waiting')
  })

  test('is decided once: late successes move neither its member nor its time', async () => {
    const graph = await flows.graph(race, { policies: { z: anyOfLettingRun } })
    await graph.complete('s0')
    await graph.complete('z')
    const ended = (await graph.look('z')).state

    await graph.complete('s1', 's2', 's3', 's4')

    expect((await graph.look('z')).state).toEqual(ended)
    expect((await graph.view()).state).toBe('completed')
  })

  test.each([
    ['any_of', anyOf, 5],
    ['quorum of 3', quorum(3), 3],
  ] as const)('%s is impossible when too few are left, and cancels the rest', async (_, policy, losses) => {
    const graph = await flows.graph(race, { policies: { z: policy } })
    await graph.fail(...five.slice(0, losses - 1))
    expect(await graph.state('z')).toBe('waiting_dependencies')

    await graph.fail(five[losses - 1]!)

    expect(await graph.endOf('z')).toBe(`skipped,dependency_impossible,${five[losses - 1]}`)
    for (const loser of five.slice(losses)) {
      expect(await graph.endOf(loser)).toBe('cancelled,sibling_quorum_impossible,flow')
    }
    expect((await graph.view()).flow).toMatchObject({
      state: { phase: 'ended', outcome: 'failed' },
      counts: { failed: losses, cancelled: 5 - losses, superseded: 0, skipped: 1 },
    })
  })

  test('that lets the others run does so when it is impossible too', async () => {
    const graph = await flows.graph(race, { policies: { z: quorum(3, 'let_run') } })

    await graph.fail('s0', 's1', 's2')

    expect(await graph.states()).toEqual(['failed', 'failed', 'failed', 'waiting', 'waiting', 'skipped'])
    await graph.complete('s3', 's4')
    expect(await graph.group('z')).toMatchObject({ completed: 2, failed: 3, verdict: 'impossible' })
  })

  test('of as many as there are is a group of all that cancels with the first failure', async () => {
    const graph = await flows.graph(race, { policies: { z: quorum(5) } })

    await graph.fail('s2')

    expect(await graph.states()).toEqual(['cancelled', 'cancelled', 'failed', 'cancelled', 'cancelled', 'skipped'])
  })

  test('counts a skipped upstream as one chance less, in a bucket of its own', async () => {
    const graph = await flows.graph({ a: [], b: ['a'], c: [], z: ['b', 'c'] }, { policies: { z: anyOf } })

    await graph.fail('a')
    expect(await graph.group('z')).toMatchObject({ skipped: 1, failed: 0, verdict: 'pending' })
    await graph.complete('c')

    expect(await graph.state('z')).toBe('waiting')
  })

  test('ends a running loser at once: its holder is refused from then on', async () => {
    const graph = await flows.graph({ a: [], b: [], z: ['a', 'b'] }, { policies: { z: anyOf } })
    const loser = await graph.claim('b')

    await graph.complete('a')

    expect(await fabric.run('completeExecution', loser)).toMatchObject({
      kind: 'refused',
      code: 'execution_not_active',
    })
    expect(await fabric.attemptsOf(loser.executionId)).toMatchObject([{ outcome: 'cancelled' }])
  })

  test('answers the winner that repeats its completion as before, and cancels nothing again', async () => {
    const graph = await flows.graph({ a: [], b: [], z: ['a', 'b'] }, { policies: { z: anyOf } })
    const winner = await graph.claim('a')
    await fabric.run('completeExecution', winner)
    const before = await fabric.dump()

    expect((await fabric.run('completeExecution', winner)).kind).toBe('already_completed')
    expect(await fabric.dump()).toEqual(before)
  })

  test('skips what hangs on the losers alone, and counts it as skipped', async () => {
    const graph = await flows.graph({ a: [], b: [], z: ['a', 'b'], x: ['b'] }, { policies: { z: anyOf, x: anyOf } })

    await graph.complete('a')

    expect(await graph.states()).toEqual(['completed', 'waiting', 'waiting', 'waiting_dependencies'])
    await graph.fail('b')
    expect(await graph.state('x')).toBe('skipped')
  })

  test('gives its member the inputs of those that completed, and no others', async () => {
    const graph = await flows.graph(
      { a: [], b: [], c: [], z: [input('a'), input('b'), input('c')] },
      { policies: { z: quorum(2) } },
    )
    await graph.complete('a', 'c')

    const claimed = await graph.claimed('z')

    expect(claimed.inputs.map(({ name }) => name).sort()).toEqual(['a', 'c'])
  })
})
