/** Cancels that reach children: of their parent, and of the losers of a race. */
import { expect, test } from 'vitest'
import type { ExecutionId } from '../../src/kernel/index.ts'
import { conforms } from './harness.ts'
import { forcedCancel, permanentFailure, politeCancel } from './given.ts'
import { anyOf } from './given-flow.ts'

conforms('child_canceller', ({ fabric, given, flows, journal, children, clock }) => {
  async function endOf(executionId: ExecutionId): Promise<string> {
    const { state } = await fabric.look(executionId)
    return state.phase === 'ended' ? `${state.outcome} ${state.reason ?? ''}` : state.phase
  }

  function cancel(executionId: ExecutionId, how: typeof politeCancel | typeof forcedCancel = politeCancel) {
    return fabric.run('cancelExecution', { executionId, ...how })
  }

  test('what is due is done: the children of a cancelled parent are cancelled', async () => {
    const { parent, ids } = await children.waiting(['ready', 'running', 'done'])
    await children.complete(ids[2]!)
    await children.held(ids[1]!)

    await cancel(parent.executionId)
    const handled = await flows.drain()

    expect(handled).toContain('child_canceller')
    expect(await endOf(ids[0]!)).toBe('cancelled parent_stopped')
    expect((await fabric.look(ids[0]!)).state).toMatchObject({ by: parent.executionId })
    expect(await fabric.look(ids[1]!)).toMatchObject({
      state: { phase: 'active', cancel: { reason: 'parent_stopped' } },
    })
    expect(await endOf(ids[2]!)).toBe('completed ')
    expect((await journal.journal(parent)).childCancels).toBeUndefined()
  })

  test('what is not due is left alone: children of a parent that fails or completes run on', async () => {
    const failing = await given.activeExecution()
    const [first] = await children.started(failing, ['a'])
    await fabric.run('failExecution', { ...failing, ...permanentFailure })
    const completing = await given.activeExecution()
    const [second] = await children.started(completing, ['a'])
    await fabric.run('completeExecution', completing)

    expect(await flows.drain()).toEqual([])
    expect([await endOf(first!), await endOf(second!)]).toEqual(['eligible', 'eligible'])
  })

  test('two engines do it once', async () => {
    const names = Array.from({ length: 20 }, (_, i) => `c${i}`)
    const { parent, ids } = await children.waiting(names)
    await cancel(parent.executionId)

    await Promise.all([fabric.duePass(), fabric.duePass()])
    await flows.drain()

    const ends = await Promise.all(ids.map((executionId) => given.eventsOf({ executionId }, 'execution_ended')))
    expect(ends.map((events) => events.length)).toEqual(names.map(() => 1))
  })

  test('the holder of a child has the grace, and then the child ends', async () => {
    const { parent, ids } = await children.waiting(['a'])
    const held = await children.held(ids[0]!)
    await cancel(parent.executionId)
    await flows.drain()

    expect(await fabric.run('renewLease', { ...held, leaseTtlMs: 90_000 })).toMatchObject({
      cancel: { reason: 'parent_stopped' },
    })
    clock.advance(30_000)
    await flows.drain()
    expect(await endOf(ids[0]!)).toBe('cancelled parent_stopped')
  })

  test('a running parent that is asked to stop has its children cancelled meanwhile', async () => {
    const parent = await given.activeExecution()
    const [before] = await children.started(parent, ['a'])
    await cancel(parent.executionId)
    await flows.drain()
    const [undo] = await children.started(parent, ['undo'])
    await flows.drain()

    expect(await endOf(before!)).toBe('cancelled parent_stopped')
    expect(await endOf(undo!)).toBe('eligible')
  })

  test('children that undo something run on while the parent does, and are cancelled with its end', async () => {
    const { parent, ids } = await children.waiting(['a'])
    await cancel(parent.executionId)
    await flows.drain()
    const unwinding = await given.claimOf(parent)
    const [undo, forgotten] = await children.started(unwinding, ['undo', 'forgotten'])
    await children.join(unwinding, ['undo'], { name: 'undone' })
    await flows.drain()
    const during = [await endOf(ids[0]!), await endOf(undo!), await endOf(forgotten!)]
    await children.complete(undo!)
    await fabric.run('completeExecution', await given.claimOf(parent))
    await flows.drain()

    expect(during).toEqual(['cancelled parent_stopped', 'eligible', 'eligible'])
    expect(await endOf(forgotten!)).toBe('cancelled parent_stopped')
    expect(await endOf(parent.executionId)).toBe('cancelled not needed')
  })

  test.each(['cancel', 'deadline'] as const)('a %s that ends the parent at once reaches its children', async (how) => {
    const parent = await given.activeExecution({ totalTimeoutMs: 10_000, compensationTimeoutMs: 1 })
    const [childId] = await children.started(parent, ['a'])
    await children.join(parent, ['a'])
    if (how === 'cancel') await cancel(parent.executionId, forcedCancel)
    else clock.advance(10_000)
    await flows.drain()

    expect(await endOf(childId!)).toBe('cancelled parent_stopped')
  })

  test('a detached child is not reached', async () => {
    const parent = await given.activeExecution()
    const [childId] = await children.started(parent, ['mail'], { isDetached: true })

    await cancel(parent.executionId, forcedCancel)
    await flows.drain()

    expect(await endOf(childId!)).toBe('eligible')
  })

  test('reaches the children of children', async () => {
    const { parent, ids } = await children.waiting(['a'])
    const middle = await children.held(ids[0]!)
    const [leafId] = await children.started(middle, ['leaf'])
    await children.join(middle, ['leaf'])

    await cancel(parent.executionId)
    await flows.drain()

    expect(await endOf(leafId!)).toBe('cancelled parent_stopped')
    expect(await fabric.look(ids[0]!)).toMatchObject({ unwinding: { outcome: 'cancelled', reason: 'parent_stopped' } })
  })

  test('hundreds of children are cancelled page by page, and none is missed', async () => {
    const parent = await given.activeExecution()
    const ids: ExecutionId[] = []
    for (let page = 0; page < 8; page++) {
      const names = Array.from({ length: 30 }, (_, i) => `c${page}-${i}`)
      ids.push(...(await children.started(parent, names)))
    }
    await cancel(parent.executionId, forcedCancel)

    await flows.drain()

    const ends = await Promise.all(ids.map(endOf))
    expect(new Set(ends)).toEqual(new Set(['cancelled parent_stopped']))
  })

  test('losers of a race are cancelled on request, and other children run on', async () => {
    const parent = await given.activeExecution()
    const ids = await children.started(parent, ['a', 'b', 'c', 'other'])
    await children.join(parent, ['a', 'b', 'c'], { policy: 'quorum', need: 1, losers: 'cancel' })

    await children.complete(ids[1]!)
    await flows.drain()

    expect(await Promise.all(ids.map(endOf))).toEqual([
      'cancelled sibling_quorum_satisfied',
      'completed ',
      'cancelled sibling_quorum_satisfied',
      'eligible',
    ])
    expect((await fabric.look(parent.executionId)).state.phase).toBe('eligible')
  })

  test('a race that is decided with its last page has its losers cancelled too', async () => {
    const parent = await given.activeExecution()
    const ids = await children.started(parent, ['a', 'b'])
    await children.complete(ids[0]!)

    await children.join(parent, ['a', 'b'], { policy: 'quorum', need: 1, losers: 'cancel' })
    await flows.drain()

    expect(await endOf(ids[1]!)).toBe('cancelled sibling_quorum_satisfied')
  })

  test('all: the rest is cancelled after a failure, on request', async () => {
    const { ids } = await children.waiting(['a', 'b'], { losers: 'cancel' })

    await children.fail(ids[0]!)
    await flows.drain()

    expect(await endOf(ids[1]!)).toBe('cancelled sibling_failed')
  })

  test('a loser that another join waits for runs on', async () => {
    const parent = await given.activeExecution()
    const ids = await children.started(parent, ['a', 'b'])
    await children.complete(ids[0]!)
    await children.join(parent, ['a', 'b'], { policy: 'quorum', need: 1, losers: 'cancel' })
    await children.join(parent, ['b'], { name: 'rest' })

    await flows.drain()

    expect(await endOf(ids[1]!)).toBe('eligible')
  })

  test.each([1, 40])('a join that the cancel of %i children decides has its losers cancelled too', async (count) => {
    const names = Array.from({ length: count }, (_, i) => `c${i}`)
    const { parent, ids } = await children.waiting(names)
    await cancel(parent.executionId)
    const unwinding = await given.claimOf(parent)
    const [undo, other] = await children.started(unwinding, ['undo', 'other'])
    await children.join(unwinding, ['c0', 'undo'], { name: 'undone', losers: 'cancel' })

    await flows.drain()

    expect(new Set(await Promise.all(ids.map(endOf)))).toEqual(new Set(['cancelled parent_stopped']))
    expect(await endOf(undo!)).toBe('cancelled sibling_failed')
    expect(await endOf(other!)).toBe('eligible')
    expect((await journal.journal(parent)).childCancels).toBeUndefined()
  })

  test('a flow that is cancelled reaches the children of its members, also by the loss of a race', async () => {
    const graph = await flows.graph({ a: [] })
    const parent = await graph.claim('a')
    const [childId] = await children.started(parent, ['x'])
    await children.join(parent, ['x'])
    const race = await flows.graph({ slow: [], fast: [], first: ['slow', 'fast'] }, { policies: { first: anyOf } })
    const slow = await race.claim('slow')
    const [loserId] = await children.started(slow, ['x'])
    await children.join(slow, ['x'])

    await graph.cancel({ force: true })
    await race.complete('fast')
    await flows.drain()

    expect(await endOf(childId!)).toBe('cancelled parent_stopped')
    expect(await endOf(loserId!)).toBe('cancelled parent_stopped')
  })

  test('an ended parent with pending cancels is neither replaced nor removed before they are done', async () => {
    const parent = await given.activeExecution({ retentionMs: 0 })
    const [childId] = await children.started(parent, ['a'])
    await cancel(parent.executionId, forcedCancel)

    const replaced = await given.submit({ executionId: parent.executionId, ifExists: 'replace' })
    await fabric.run('purgeExecutions', {})
    const isThere = await fabric.exists(parent.executionId)
    await flows.drain()
    await fabric.run('purgeExecutions', {})

    expect(replaced).toMatchObject({ code: 'children_stopping' })
    expect([isThere, await fabric.exists(parent.executionId)]).toEqual([true, false])
    expect(await endOf(childId!)).toBe('cancelled parent_stopped')
  })

  test('a cancelled parent can be replayed once its children are cancelled, and starts them anew', async () => {
    const { parent, ids } = await children.waiting(['ready', 'running'])
    await children.held(ids[1]!)
    await cancel(parent.executionId, forcedCancel)
    const replay = { executionId: parent.executionId, requestId: 'again' }
    const early = await fabric.run('replayExecution', replay)
    await flows.drain()
    await fabric.run('replayExecution', replay)
    const again = await given.claimOf(parent)

    const newIds = await children.started(again, ['ready', 'running'])
    await flows.drain()

    expect(early).toMatchObject({ code: 'children_stopping' })
    // The holder of the old child has not stopped yet: the new run does not get its cancel as a failure.
    expect(newIds.filter((id) => ids.includes(id))).toEqual([])
    expect(await Promise.all(newIds.map(endOf))).toEqual(['eligible', 'eligible'])
    clock.advance(30_000)
    await flows.drain()
    expect(await Promise.all(ids.map(endOf))).toEqual(['cancelled parent_stopped', 'cancelled parent_stopped'])
    expect(await children.step(parent, 'running')).toMatchObject({ state: { phase: 'open' } })
  })

  test('a follow-up begins once the children of the run before are cancelled', async () => {
    const { parent, ids } = await children.waiting(['a'], { parent: { totalTimeoutMs: 10_000 } })
    const after = { executionId: parent.executionId, ifExists: 'after' } as const
    const asked = await given.submit(after)
    clock.advance(10_000)
    await flows.drain()
    await fabric.run('completeExecution', await given.claimOf(parent))
    const between = await endOf(parent.executionId)
    const later = await given.submit(after)

    await flows.drain()

    expect([asked.kind, between]).toEqual(['follow_up', 'expired execution_deadline'])
    // The next run still waits, so a later one takes its place.
    expect(later).toMatchObject({ kind: 'follow_up_replaced' })
    expect(await endOf(ids[0]!)).toBe('cancelled parent_stopped')
    expect(await endOf(parent.executionId)).toBe('eligible')
  })

  test('an ended parent accepts a follow-up while its children are cancelled', async () => {
    const { parent, ids } = await children.waiting(['a'])
    const { executionId } = parent
    await cancel(executionId, forcedCancel)

    const asked = await given.submit({ executionId, ifExists: 'after' })
    const between = await endOf(executionId)
    await flows.drain()

    expect([asked.kind, between]).toEqual(['follow_up', expect.stringContaining('cancelled')])
    expect(await endOf(ids[0]!)).toBe('cancelled parent_stopped')
    expect(await endOf(executionId)).toBe('eligible')
  })

  test('a parent whose follow-up waits for the end of its children is not deleted', async () => {
    const { parent } = await children.waiting(['a'])
    const { executionId } = parent
    await cancel(executionId, forcedCancel)
    await given.submit({ executionId, ifExists: 'after' })

    const deleted = await fabric.run('deleteExecution', { executionId, by: 'ada' })
    await flows.drain()

    expect(deleted).toMatchObject({ kind: 'refused', code: 'children_stopping' })
    expect(await endOf(executionId)).toBe('eligible')
  })

  test.each(['cancelled', 'expired'])(
    'a cancel drops the follow-up that waits after a run that %s',
    async (outcome) => {
      const { parent } = await children.waiting(['a'], { parent: { totalTimeoutMs: 10_000 } })
      const { executionId } = parent
      if (outcome === 'cancelled') await cancel(executionId, forcedCancel)
      else {
        clock.advance(10_000)
        await flows.drain()
        await fabric.run('completeExecution', await given.claimOf(parent))
      }
      await given.submit({ executionId, ifExists: 'after' })

      const answer = await fabric.run('cancelExecution', { executionId, ...forcedCancel })
      await flows.drain()

      const kind = outcome === 'cancelled' ? 'already_cancelled' : 'cancelled'
      expect(answer).toEqual({ kind, droppedFollowUp: true })
      expect(await endOf(executionId)).toContain(outcome)
      expect((await fabric.look(executionId)).followUp).toBeUndefined()
    },
  )

  test('a child has no follow-up', async () => {
    const { ids } = await children.waiting(['a'])

    expect(await given.submit({ executionId: ids[0]!, ifExists: 'after' })).toMatchObject({
      code: 'execution_is_child',
    })
  })
})
