/** A running member that waits for others releases its worker, and continues the same attempt when they have ended. */
import { expect, test } from 'vitest'
import { anyOf, names } from './given-flow.ts'
import { LEASE_TTL_MS, politeCancel } from './given.ts'
import type { Held } from './given.ts'
import type { Graph } from './graph.ts'
import { conforms } from './harness.ts'
import { refusal } from './refusal.ts'

conforms('waitForChildren', ({ fabric, flows, given, clock }) => {
  const wait = (held: Held) => fabric.run('waitForChildren', { executionId: held.executionId, fence: held.fence })

  /** A running member and a child that it waits for. */
  const family = async (): Promise<{ graph: Graph; holder: Held }> => {
    const graph = await flows.graph({ parent: [] })
    const holder = await graph.claim('parent')
    await graph.add('child', { holder, awaited: { hands: { as: 'input', name: 'it' } } })
    return { graph, holder }
  }

  test('parks the member, frees its lease, and continues the same attempt with the results', async () => {
    const { graph, holder } = await family()

    expect(await wait(holder)).toEqual({ kind: 'parked' })
    expect(await graph.state('parent')).toBe('waiting_dependencies')
    await graph.completeWith('child', new Uint8Array([1]))

    expect(await graph.claimed('parent')).toMatchObject({
      fence: { attempt: 1, epoch: 2 },
      inputs: [{ name: 'it', upstreamId: graph.id('child'), result: { size: 1 } }],
    })
    expect(await given.eventTypesOf({ executionId: graph.id('parent') })).toEqual([
      'execution_created',
      'attempt_started',
      'execution_blocked',
      'execution_unblocked',
      'attempt_started',
    ])
    await graph.complete('parent')
    expect((await graph.view()).state).toBe('completed')
  })

  test('repeated is answered again; the lease is gone either way', async () => {
    const { holder } = await family()
    await wait(holder)

    expect(await wait(holder)).toEqual({ kind: 'already_parked' })
    expect((await refusal(fabric, () => fabric.run('completeExecution', holder))).code).toBe('execution_not_active')
  })

  test('with nothing to wait for keeps the lease', async () => {
    const graph = await flows.graph({ a: [], b: ['a'] })
    const alone = await graph.claim('a')
    expect(await wait(alone)).toEqual({ kind: 'not_blocked' })
    await graph.complete('a')

    expect(await wait(await graph.claim('b'))).toEqual({ kind: 'not_blocked' })
    expect(await graph.state('b')).toBe('active')
  })

  test('keeps the lease if the children completed before it asked', async () => {
    const { graph, holder } = await family()
    await graph.complete('child')

    expect(await wait(holder)).toEqual({ kind: 'not_blocked' })
    expect(await graph.state('parent')).toBe('active')
  })

  test('skips the member if a child failed, before it asked or while it waits', async () => {
    const early = await family()
    await early.graph.fail('child')
    expect(await early.graph.state('parent')).toBe('active')
    expect(await wait(early.holder)).toEqual({ kind: 'skipped' })
    expect(await wait(early.holder)).toEqual({ kind: 'already_skipped' })

    const late = await family()
    await wait(late.holder)
    await late.graph.fail('child')

    for (const { graph } of [early, late]) {
      expect(await graph.endOf('parent')).toBe('skipped,dependency_impossible,child')
      expect(await fabric.attemptsOf(graph.id('parent'))).toMatchObject([{ number: 1, outcome: 'cancelled' }])
      expect((await graph.view()).state).toBe('failed')
    }
  })

  test('waits for whole graphs that were made on the way', async () => {
    const graph = await flows.graph({ parent: [], after: ['parent'] })
    const holder = await graph.claim('parent')
    await graph.add('a', { holder, awaited: {} })
    await graph.add('b', { holder, after: ['a'] })
    await graph.add('c', { holder, after: ['b'], awaited: {} })
    await wait(holder)

    await graph.complete('a', 'b')
    expect(await graph.state('parent')).toBe('waiting_dependencies')
    await graph.complete('c')

    expect(await graph.state('parent')).toBe('waiting')
    await graph.complete('parent', 'after')
  })

  test('may be done again and again, with more children each time', async () => {
    const graph = await flows.graph({ parent: [] })
    for (const round of names('child', 3)) {
      const holder = await graph.claim('parent')
      await graph.add(round, { holder, awaited: {} })
      await wait(holder)
      await graph.complete(round)
    }
    await graph.complete('parent')

    expect((await graph.look('parent')).attempt?.number).toBe(1)
    expect((await graph.view()).flow.counts.completed).toBe(4)
  })

  test('waits for as many as the member’s own policy needs', async () => {
    const graph = await flows.open()
    await graph.add('parent', { policy: anyOf })
    const holder = await graph.claim('parent')
    await graph.add('a', { holder, awaited: {} })
    await graph.add('b', { holder, awaited: {} })
    await wait(holder)

    await graph.complete('b')

    expect(await graph.states()).toEqual(['waiting', 'cancelled', 'completed'])
  })

  test('does not count the time of waiting against the attempt', async () => {
    const graph = await flows.graph({ parent: [] }, { drafts: { parent: { attemptTimeoutMs: 10_000 } } })
    const holder = await graph.claim('parent')
    await graph.add('child', { holder, awaited: {} })
    clock.advance(4_000)
    await wait(holder)
    clock.advance(60_000)
    await graph.complete('child')

    expect((await graph.claimed('parent')).timeoutAt).toBe(clock.now() + 6_000)
  })

  test('ends a member whose cancel was asked for instead of parking it', async () => {
    const { graph, holder } = await family()
    await fabric.run('cancelExecution', { executionId: holder.executionId, ...politeCancel })

    expect(await wait(holder)).toEqual({ kind: 'cancelled' })
    expect(await wait(holder)).toEqual({ kind: 'already_cancelled' })
    expect(await graph.state('parent')).toBe('cancelled')
  })

  test('a parked member ends with its flow, or by an operator', async () => {
    const flow = await family()
    await wait(flow.holder)
    await flow.graph.cancel()
    expect(await flow.graph.states()).toEqual(['cancelled', 'cancelled'])

    const alone = await family()
    await wait(alone.holder)
    await alone.graph.cancelMember('parent')
    await alone.graph.complete('child')
    expect(await alone.graph.states()).toEqual(['cancelled', 'completed'])
  })

  test('a member that lost its lease before it could wait begins anew, and waits then', async () => {
    const { graph, holder } = await family()
    clock.advance(LEASE_TTL_MS)
    await flows.drain()
    expect((await refusal(fabric, () => wait(holder))).code).toBe('lease_expired')

    const again = await graph.claim('parent')
    expect(await wait(again)).toEqual({ kind: 'parked' })
    await graph.complete('child')
    await graph.complete('parent')
  })

  test('refuses who does not hold the member, what is in no flow, and what does not exist', async () => {
    const { holder } = await family()
    const solo = await given.activeExecution()
    const stale = { ...holder, fence: { ...holder.fence, leaseId: given.requestId() } }

    expect((await refusal(fabric, () => wait(stale))).code).toBe('stale_lease')
    expect((await refusal(fabric, () => wait(solo))).code).toBe('execution_not_in_flow')
    expect((await refusal(fabric, () => wait({ ...holder, executionId: given.newId() }))).code).toBe(
      'execution_not_found',
    )
    clock.advance(LEASE_TTL_MS)
    expect((await refusal(fabric, () => wait(holder))).code).toBe('lease_expired')
  })
})
