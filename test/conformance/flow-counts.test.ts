/** A flow's counts and state are exact after every single step of its members, whatever moves them. */
import { expect, test } from 'vitest'
import { anyOf, names, nodes, quorum } from './given-flow.ts'
import { CLASS, DELAY_MS, fixedRetry, transientFailure } from './given.ts'
import { conforms } from './harness.ts'
import { problemsOf } from './invariants.ts'

conforms('the counts of a flow', ({ fabric, flows, given, clock }) => {
  test('follow a member through everything that can happen to it', async () => {
    const graph = await flows.graph({ a: [], b: ['a'] }, { drafts: { a: { retry: fixedRetry(9, DELAY_MS) } } })
    const executionId = graph.id('a')
    const hold = () => graph.claim('a')
    const wake = async () => {
      clock.advance(DELAY_MS)
      await flows.drain()
    }
    const steps: readonly (() => Promise<unknown>)[] = [
      hold,
      async () => fabric.run('releaseExecution', { ...(await graph.holderOf('a')), reason: 'shutdown' }),
      hold,
      async () => fabric.run('delayExecution', { ...(await graph.holderOf('a')), delayMs: DELAY_MS }),
      wake,
      hold,
      async () => fabric.run('failExecution', { ...(await graph.holderOf('a')), ...transientFailure }),
      wake,
      hold,
      () => fabric.run('revokeLease', { executionId, reason: 'stuck', by: 'operator' }),
      hold,
      wake,
      () => fabric.run('changePriority', { executionId, priority: 5 }),
      hold,
      () => graph.fail('a').catch(() => graph.cancelMember('a')),
      () => graph.replay('a', { subtree: true }),
      () => graph.complete('a'),
      () => graph.complete('b'),
    ]

    const seen: string[] = []
    for (const step of steps) {
      await step()
      expect(problemsOf(await fabric.dump())).toEqual([])
      seen.push(await graph.state('a'))
    }

    expect(new Set(seen)).toEqual(new Set(['active', 'waiting', 'delayed', 'failed', 'completed']))
    expect((await graph.view()).state).toBe('completed')
  })

  test('do not depend on the order in which members end', async () => {
    const ends = ['complete', 'fail', 'complete', 'fail', 'complete'] as const
    const found = new Set<string>()
    for (const shift of [0, 1, 2, 3, 4]) {
      const graph = await flows.graph(
        { ...nodes(names('s', 5)), all: names('s', 5), q: names('s', 5), z: ['q'] },
        { policies: { q: quorum(3, 'let_run') } },
      )
      for (const [i] of ends.entries()) {
        const at = (i + shift) % ends.length
        await graph[ends[at]!](`s${at}`)
      }
      const { total, completed, failed, skipped, verdict } = (await graph.group('q'))!
      found.add(JSON.stringify([total, completed, failed, skipped, verdict, (await graph.view()).flow.counts]))
    }

    expect(found.size).toBe(1)
  })

  test('no longer count a failed sink once another member depends on it', async () => {
    const graph = await flows.graph({ parent: [] }, { flow: { outcomeRule: 'sinks' } })
    const holder = await graph.claim('parent')
    const lost = await given.endedExecution('failed')
    await graph.add('loose', { executionId: lost.executionId, holder })
    expect((await graph.view()).flow.failedSinkCount).toBe(1)

    await graph.link('loose', 'parent', { fence: holder.fence })

    expect((await graph.view()).flow.failedSinkCount).toBe(0)
  })

  test('hold a replayed member of a held flow back until the seal', async () => {
    const graph = await flows.held(['a', 'b'])
    await graph.add('c', { after: ['a'] })
    await graph.cancelMember('a')
    await graph.cancelMember('b')

    await graph.replay('b')
    await graph.replay('a', { subtree: true })
    expect(await graph.isClaimable('a')).toBe(false)
    expect(await graph.isClaimable('b')).toBe(false)
    await graph.seal()

    expect(await graph.isClaimable('a')).toBe(true)
    expect(await graph.isClaimable('b')).toBe(true)
  })
})

conforms('a race in a flow', ({ fabric, flows }) => {
  test('of two that complete at once is won by one; the other is refused', async () => {
    const graph = await flows.graph({ a: [], b: [], z: ['a', 'b'] }, { policies: { z: anyOf } })
    const [a, b] = await Promise.all([graph.claim('a'), graph.claim('b')])

    const answers = await Promise.all([fabric.run('completeExecution', a), fabric.run('completeExecution', b)])

    expect(answers.map((answer) => answer.kind)).toEqual(['completed', 'refused'])
    expect(await graph.states()).toEqual(['completed', 'cancelled', 'waiting'])
  })

  test('of many that complete at once releases what gathers them once', async () => {
    const many = names('s', 30)
    const graph = await flows.graph({ ...nodes(many), z: many })
    const held = await Promise.all(many.map((name) => graph.claim(name)))

    await Promise.all(held.map((holder) => fabric.run('completeExecution', holder)))

    expect(await graph.state('z')).toBe('waiting')
    const released = (await fabric.events()).filter((event) => event.type === 'execution_unblocked')
    expect(released.map((event) => event.executionId)).toEqual([graph.id('z')])
  })

  test.each([
    ['cancel', ['cancelled', 'refused'], 'cancelled'],
    ['completion', ['completed', 'refused'], 'completed'],
  ] as const)(
    'of a cancel of the flow and its last completion goes to the %s if it comes first',
    async (first, kinds, state) => {
      const graph = await flows.graph({ a: [] })
      const held = await graph.claim('a')
      const complete = () => fabric.run('completeExecution', held)
      const cancel = () => graph.cancel()

      const answers = await Promise.all(first === 'cancel' ? [cancel(), complete()] : [complete(), cancel()])

      expect(answers.map((answer) => answer.kind)).toEqual(kinds)
      expect((await graph.view()).state).toBe(state)
    },
  )

  test('of a seal and the last completion ends the flow once, whichever comes first', async () => {
    for (const sealFirst of [true, false]) {
      const graph = await flows.open(['a'])
      const held = await graph.claim('a')
      const complete = () => fabric.run('completeExecution', held)

      await Promise.all(sealFirst ? [graph.seal(), complete()] : [complete(), graph.seal()])

      const ends = (await fabric.events()).filter(
        (event) => event.type === 'flow_ended' && event.flowId === graph.flowId,
      )
      expect(ends).toHaveLength(1)
      expect((await graph.view()).state).toBe('completed')
    }
  })

  test('of an edge and the end of its upstream resolves the edge once, whichever comes first', async () => {
    for (const edgeFirst of [true, false]) {
      const graph = await flows.open(['a', 'b'])
      const held = await graph.claim('a')
      const complete = () => fabric.run('completeExecution', held)

      await Promise.all(edgeFirst ? [graph.link('a', 'b'), complete()] : [complete(), graph.link('a', 'b')])

      expect(await graph.group('b')).toMatchObject({ total: 1, completed: 1, verdict: 'satisfied' })
      expect(await graph.state('b')).toBe('waiting')
    }
  })

  test('of two due passes over one backlog does everything once', async () => {
    const many = names('w', 150)
    const graph = await flows.graph({ a: [], ...nodes(many, ['a']) }, { class: CLASS })
    await graph.fail('a')

    await Promise.all([flows.drain(), flows.drain()])
    await flows.drain()

    const ends = (await fabric.events()).filter((event) => event.type === 'execution_ended')
    expect(ends).toHaveLength(151)
    expect((await graph.view()).state).toBe('failed')
  })
})
