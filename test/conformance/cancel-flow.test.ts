/** A cancelled flow: nothing of it is begun from then on, and every member that the policy names ends, once. */
import { expect, test } from 'vitest'
import { CANCEL_BACKLOG_INDEX } from '../../src/kernel/index.ts'
import { anyOf, names, nodes, quorum } from './given-flow.ts'
import { CLASS, GRACE_MS, LEASE_TTL_MS, fixedRetry, transientFailure } from './given.ts'
import { conforms } from './harness.ts'
import { refusal } from './refusal.ts'

const polite = { force: false, graceMs: GRACE_MS } as const

conforms('cancelFlow', ({ fabric, flows, clock }) => {
  test('of all ends every member that lives, and leaves the outcome of those that have ended', async () => {
    const graph = await flows.graph({ a: [], b: ['a'], c: ['b'], x: [], y: ['x'], run: [] })
    await graph.complete('a')
    await graph.fail('x')
    const held = await graph.claim('run')

    expect(await graph.cancel()).toEqual({
      kind: 'cancelled',
      policy: 'cancel_all',
      reason: 'not needed',
      settled: true,
      liveCount: 0,
      at: clock.now(),
    })

    expect(await graph.states()).toEqual(['completed', 'cancelled', 'cancelled', 'failed', 'skipped', 'cancelled'])
    expect(await graph.endOf('c')).toBe('cancelled,not needed,operator')
    expect((await fabric.run('completeExecution', held)).kind).toBe('refused')
    expect(await graph.view()).toMatchObject({ state: 'cancelled', settled: true })
    expect((await graph.view()).flow.counts).toMatchObject({ completed: 1, failed: 1, skipped: 1, cancelled: 3 })
  })

  test('asks who runs to stop, and ends him when his grace is over', async () => {
    const graph = await flows.graph({ a: [], b: ['a'], c: [] })
    const held = await graph.claim('a')
    await graph.claim('c')

    expect(await graph.cancel(polite)).toMatchObject({ kind: 'cancelled', settled: false, liveCount: 2 })
    expect(await graph.states()).toEqual(['active', 'cancelled', 'active'])
    const renewed = await fabric.run('renewLease', { ...held, leaseTtlMs: LEASE_TTL_MS })
    expect(renewed).toMatchObject({ cancel: { reason: 'not needed' } })
    await graph.complete('c')
    clock.advance(GRACE_MS)
    await flows.drain()

    expect(await graph.states()).toEqual(['cancelled', 'cancelled', 'completed'])
    expect((await graph.view()).settled).toBe(true)
  })

  test('of what is pending lets those finish that run, and begins nothing behind them', async () => {
    const graph = await flows.graph({ a: [], b: ['a'], c: [], d: [] }, { drafts: { d: { delayMs: 60_000 } } })
    await graph.claim('a')

    expect(await graph.cancel({ policy: 'cancel_pending' })).toMatchObject({ settled: false, liveCount: 1 })
    expect(await graph.states()).toEqual(['active', 'cancelled', 'cancelled', 'cancelled'])
    await graph.complete('a')

    expect(await graph.states()).toEqual(['completed', 'cancelled', 'cancelled', 'cancelled'])
    expect(await graph.view()).toMatchObject({ state: 'cancelled', settled: true })
    expect(await graph.group('b')).toMatchObject({ completed: 1, verdict: 'pending' })
  })

  test('of what is pending queues nothing again: a retry, a release, a delay, a lost lease', async () => {
    const drafts = Object.fromEntries(names('n', 5).map((name) => [name, { retry: fixedRetry(3, 0) }]))
    const graph = await flows.graph(nodes(names('n', 5)), { drafts })
    const [retry, release, delay, revoke, silent] = await Promise.all(names('n', 5).map((name) => graph.claim(name)))
    await graph.cancel({ policy: 'cancel_pending' })

    expect((await fabric.run('failExecution', { ...retry!, ...transientFailure })).kind).toBe('cancelled')
    await fabric.run('releaseExecution', { ...release!, reason: 'shutdown' })
    await fabric.run('delayExecution', { ...delay!, delayMs: 1_000 })
    await fabric.run('revokeLease', { executionId: revoke!.executionId, reason: 'stuck', by: 'operator' })
    expect(await graph.state('n4')).toBe('active')
    expect(silent).toBeDefined()
    clock.advance(LEASE_TTL_MS)
    await flows.drain()

    expect(await graph.states()).toEqual(Array.from({ length: 5 }, () => 'cancelled'))
    expect(await graph.endOf('n0')).toBe('cancelled,not needed,operator')
  })

  test('of the flow alone lets its members run to their end by their edges', async () => {
    const graph = await flows.graph({ a: [], b: ['a'], c: ['b'] })

    expect(await graph.cancel({ policy: 'flow_only' })).toMatchObject({ policy: 'flow_only', liveCount: 3 })
    expect((await refusal(fabric, () => graph.add('d'))).code).toBe('flow_ended')
    await graph.complete('a')
    await graph.fail('b')

    expect(await graph.states('a', 'b', 'c')).toEqual(['completed', 'failed', 'skipped'])
    expect(await graph.view()).toMatchObject({ state: 'cancelled', settled: true })
  })

  test('of the flow alone releases a held flow, since it can no longer be sealed', async () => {
    const graph = await flows.held(['a'])
    await graph.add('b', { after: ['a'] })

    await graph.cancel({ policy: 'flow_only' })

    expect(await graph.state('a')).toBe('waiting')
    await graph.complete('a', 'b')
  })

  test('of the flow alone leaves no member waiting for an edge that can no longer come', async () => {
    const graph = await flows.open(['a'])
    await graph.add('q', { after: ['a'], policy: quorum(2, 'let_run') })

    await graph.cancel({ policy: 'flow_only' })
    await graph.complete('a')

    expect(await graph.states()).toEqual(['completed', 'skipped'])
    expect((await graph.view()).settled).toBe(true)
  })

  test('repeated with force ends those that were only asked before', async () => {
    const graph = await flows.graph({ a: [], b: ['a'] })
    await graph.claim('a')
    await graph.cancel({ policy: 'cancel_all', force: false, graceMs: 1_000 })
    expect(await graph.states()).toEqual(['active', 'cancelled'])

    expect(await graph.cancel({ force: true })).toMatchObject({ kind: 'already_cancelled', settled: true })
    expect(await graph.states()).toEqual(['cancelled', 'cancelled'])
  })

  test('repeated answers with the first policy and reason, and changes nothing', async () => {
    const graph = await flows.graph({ a: [] })
    await graph.claim('a')
    await graph.cancel({ policy: 'cancel_pending', reason: 'first' })
    const before = await fabric.dump()

    expect(await graph.cancel({ reason: 'second' })).toMatchObject({
      kind: 'already_cancelled',
      policy: 'cancel_pending',
      reason: 'first',
      settled: false,
      liveCount: 1,
    })
    expect(await fabric.dump()).toEqual(before)
  })

  test('of an empty flow, or of one whose members have all ended, owes nothing', async () => {
    const empty = await flows.open()
    const done = await flows.open(['a'])
    await done.complete('a')

    expect(await empty.cancel()).toMatchObject({ kind: 'cancelled', settled: true })
    expect(await done.cancel()).toMatchObject({ kind: 'cancelled', settled: true })
    expect(await done.state('a')).toBe('completed')
    expect(await flows.due()).toEqual([])
  })

  test('refuses a flow that does not exist or has ended', async () => {
    const graph = await flows.graph({ a: [] })
    await graph.complete('a')

    expect((await refusal(fabric, () => graph.cancel({ flowId: flows.newId() }))).code).toBe('flow_not_found')
    expect(await refusal(fabric, () => graph.cancel())).toEqual({
      code: 'flow_ended',
      detail: { flowId: graph.flowId, outcome: 'completed' },
    })
  })

  test('skips no member and cancels none twice where groups would have decided meanwhile', async () => {
    const graph = await flows.graph({ a: [], b: [], any: ['a', 'b'], c: ['any'] }, { policies: { any: anyOf } })

    await graph.cancel()

    expect(await graph.states()).toEqual(Array.from({ length: 4 }, () => 'cancelled'))
    expect((await graph.view()).flow.counts).toMatchObject({ cancelled: 4, superseded: 0, skipped: 0 })
  })
})

conforms('the backlog of a cancelled flow', ({ fabric, flows, given }) => {
  /** A cancelled flow with more members than one operation cancels. */
  const large = async () => {
    const shape = { ...nodes(names('n', 150)), ...nodes(names('w', 99), ['n0']), z: names('w', 99) }
    const graph = await flows.graph(shape, { class: CLASS })
    expect(await graph.cancel()).toMatchObject({ kind: 'cancelled', settled: false })
    return graph
  }
  const backlog = async () =>
    (await fabric.dump()).entries.filter((entry) => entry.index === CANCEL_BACKLOG_INDEX).map((entry) => entry.id)

  test('is drained by the due pass, and the flow is settled when it is gone', async () => {
    const graph = await large()
    expect(await backlog()).toEqual([graph.flowId])
    const cancelled = (await graph.view()).flow.counts.cancelled

    expect(cancelled).toBeGreaterThan(0)
    expect(new Set(await flows.drain())).toEqual(new Set(['flow_cancel', 'edge_dispatcher']))

    expect(await backlog()).toEqual([])
    expect(await graph.view()).toMatchObject({ settled: true, flow: { counts: { cancelled: 250 } } })
    expect(await graph.cancel()).toMatchObject({ kind: 'already_cancelled', settled: true })
  })

  test('is drained by its reconciler alone, which returns its depth', async () => {
    const graph = await large()
    const steps = []
    for (let step = 0; step < 10; step++) {
      const result = await fabric.run('reconcileFlowCancels', {})
      steps.push([result.walked.length, result.depth])
      if (result.depth === 0) break
    }

    expect(steps[0]).toEqual([1, 1])
    expect(steps.at(-1)).toEqual([1, 0])
    expect((await graph.view()).flow.counts.cancelled).toBe(250)
    expect(await fabric.run('reconcileFlowCancels', {})).toMatchObject({ walked: [], removedStale: [], depth: 0 })
  })

  test('loses what does not belong to it', async () => {
    const graph = await flows.graph({ a: [] })
    const stale = [graph.flowId, flows.newId()]
    for (const id of stale) await fabric.setEntry(CANCEL_BACKLOG_INDEX, id, 1)

    const result = await fabric.run('reconcileFlowCancels', {})

    expect(result.removedStale.sort()).toEqual([...stale].sort())
    expect(result.depth).toBe(0)
    expect(await graph.state('a')).toBe('waiting')
  })

  test('hands nothing of it to a worker: a claim ends what it meets', async () => {
    const graph = await large()

    for (let i = 0; i < 20; i++) expect((await given.claim({ count: 50 })).executions).toEqual([])
    await flows.drain()

    expect((await graph.view()).flow.counts).toMatchObject({ cancelled: 250, active: 0 })
  })

  test('is the same when two drain it at once', async () => {
    const graph = await large()

    await Promise.all([flows.drain(), flows.drain(), fabric.run('reconcileFlowCancels', {})])
    await flows.drain()

    const ends = (await fabric.events()).filter((event) => event.type === 'execution_ended')
    expect(ends).toHaveLength(250)
    expect((await graph.view()).settled).toBe(true)
  })
})
