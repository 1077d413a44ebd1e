/** Members of a flow that wait: counted as such, cancelled with their flow or for having lost, and released into it again. */
import { expect, test } from 'vitest'
import { anyOf } from './given-flow.ts'
import { conforms } from './harness.ts'
import { refusal } from './refusal.ts'

conforms('a suspended member', ({ fabric, flows, journal, clock }) => {
  test('is counted as suspended, and as waiting once it was answered', async () => {
    const graph = await flows.graph({ a: [], b: ['a'] })
    const held = await graph.claim('a')
    await journal.wait(held)
    expect((await graph.view()).flow.counts).toMatchObject({ active: 0, suspended: 1, waiting_dependencies: 1 })
    await journal.signal(held, 'reply')
    expect((await graph.view()).flow.counts).toMatchObject({ suspended: 0, waiting: 1 })

    await graph.complete('a', 'b')
    expect((await graph.view()).state).toBe('completed')
  })

  test.each(['cancel_all', 'cancel_pending'] as const)(
    'ends with its flow when that is cancelled (%s)',
    async (policy) => {
      const graph = await flows.graph({ a: [] })
      const held = await graph.claim('a')
      await journal.wait(held)
      await graph.cancel({ policy })
      await flows.drain()

      expect(await graph.state('a')).toBe('cancelled')
      expect(await journal.step(held, 'answer')).toMatchObject({ state: { phase: 'closed', how: 'ended' } })
      expect(await journal.effect(held, 'reply')).toBe('execution_ended')
    },
  )

  test('does not begin to wait once its flow was cancelled around it', async () => {
    const graph = await flows.graph({ a: [] })
    const held = await graph.claim('a')
    await graph.cancel({ force: false, graceMs: 60_000 })

    expect(await journal.wait(held)).toEqual({ kind: 'cancelled' })
    expect(await graph.state('a')).toBe('cancelled')
  })

  test('that lost to a sibling is cancelled, and can no longer be answered', async () => {
    const graph = await flows.graph({ slow: [], fast: [], first: ['slow', 'fast'] }, { policies: { first: anyOf } })
    const held = await graph.claim('slow')
    await journal.wait(held)
    await graph.complete('fast')
    await flows.drain()

    expect(await graph.endOf('slow')).toContain('cancelled')
    expect(await journal.effect(held, 'reply')).toBe('execution_ended')
    expect((await graph.view()).flow.counts).toMatchObject({ active: 0, suspended: 0, waiting: 1 })
  })

  test('is not claimed before its time, nor when its resume is delayed', async () => {
    const graph = await flows.graph({ a: [] })
    const held = await graph.claim('a')
    await journal.wait(held, { resumeDelayMs: 1_000 })
    await journal.signal(held, 'reply')
    expect((await graph.view()).flow.counts).toMatchObject({ delayed: 1 })
    expect(await graph.isClaimable('a')).toBe(false)
    clock.advance(1_000)

    expect(await graph.claimed('a')).toMatchObject({ fence: { attempt: 1, epoch: 2 } })
  })

  test('may have waited before it became one, and continues when its flow is no longer held', async () => {
    const graph = await flows.held()
    const held = await journal.waiting()
    expect(await graph.add('late', { executionId: held.executionId })).toMatchObject({ kind: 'added' })
    expect((await graph.view()).flow.counts).toMatchObject({ suspended: 1 })
    await journal.signal(held, 'reply')

    expect((await fabric.look(held.executionId)).state).toEqual({ phase: 'blocked', by: 'hold', gate: undefined })
    await graph.seal()
    await flows.drain()
    expect((await fabric.look(held.executionId)).state.phase).toBe('eligible')
  })

  test('waits for no other member while it waits', async () => {
    const graph = await flows.open(['before'])
    const held = await journal.waiting()
    const add = () => graph.add('late', { executionId: held.executionId, after: ['before'] })

    expect((await refusal(fabric, add)).code).toBe('not_runnable')
  })

  test('that is replayed in a flow begins with what it remembers', async () => {
    const graph = await flows.graph({ a: [], b: ['a'] })
    const held = await graph.claim('a')
    await journal.wait(held, { timeoutMs: 1_000, onTimeout: 'fail' })
    clock.advance(1_000)
    await flows.drain()
    expect(await graph.states('a', 'b')).toEqual(['failed', 'skipped'])
    await graph.replay('a', { subtree: true })
    await flows.drain()
    const next = await graph.claim('a')

    expect(await journal.wait(next)).toMatchObject({ kind: 'suspended' })
    await journal.signal(next, 'reply')
    await graph.complete('a', 'b')
    expect((await graph.view()).state).toBe('completed')
  })
})
