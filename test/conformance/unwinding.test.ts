/** A stop of an execution with completed steps: its handler runs once more to undo them, and then the execution ends. */
import { expect, test } from 'vitest'
import {
  COMPENSATION_RECLAIM_COUNT,
  COMPENSATION_TIMEOUT_DEFAULT_MS,
  COMPENSATION_WAIT_MS,
  RECLAIM_CAP,
} from '../../src/kernel/index.ts'
import type { GivenJournal } from './given-journal.ts'
import { stepRetry } from './given-journal.ts'
import { anyOf } from './given-flow.ts'
import {
  CLASS,
  LEASE_TTL_MS,
  fixedRetry,
  forcedCancel,
  heldOf,
  permanentFailure,
  politeCancel,
  transientFailure,
} from './given.ts'
import type { Draft, Given, Held } from './given.ts'
import { conforms } from './harness.ts'
import { refusal } from './refusal.ts'

const requested = { outcome: 'cancelled', reason: 'not needed', by: 'operator' }

/** An execution that waits for a signal after its step `charge` has completed. */
async function charged(given: Given, journal: GivenJournal, draft: Draft = {}): Promise<Held> {
  const held = await given.activeExecution(draft)
  await journal.record(held, 'charge')
  await journal.wait(held)
  return held
}

conforms('a cancel of an execution with completed steps', ({ fabric, given, journal, clock }) => {
  const cancel = ({ executionId }: { executionId: Held['executionId'] }) =>
    fabric.run('cancelExecution', { executionId, ...politeCancel })

  test('wakes it from its wait, which ends without an answer', async () => {
    const held = await charged(given, journal)

    const forceAt = clock.now() + COMPENSATION_WAIT_MS
    expect(await cancel(held)).toEqual({ kind: 'cancel_requested', forceAt })
    expect(await cancel(held)).toEqual({ kind: 'cancel_requested', forceAt })

    expect(await fabric.look(held.executionId)).toMatchObject({ state: { phase: 'eligible' }, unwinding: requested })
    expect(await journal.step(held, 'answer')).toMatchObject({ state: { phase: 'closed', how: 'ended' } })
    expect((await journal.journal(held)).open).toEqual([])
    expect(await journal.effect(held, 'reply')).toBe('waitpoint_closed')
    expect(await given.eventsOf(held, 'execution_unwinding')).toMatchObject([
      { reason: 'not needed', by: 'operator', until: forceAt },
    ])
    expect((await given.claim()).executions).toMatchObject([
      { executionId: held.executionId, fence: { attempt: 1 }, unwinding: { ...requested, leftMs: 300_000 } },
    ])
  })

  test('wakes it from a sleep', async () => {
    const held = await given.activeExecution()
    await journal.record(held, 'charge')
    await journal.sleep(held, 3_600_000)

    expect(await cancel(held)).toMatchObject({ kind: 'cancel_requested' })
    expect((await given.claim()).executions).toMatchObject([{ unwinding: requested }])
  })

  test('wakes it from the wait for a retry, of the execution or of a step', async () => {
    const retried = await given.activeExecution({ retry: fixedRetry(3, 60_000) })
    await journal.record(retried, 'charge')
    await fabric.run('failExecution', { ...retried, ...transientFailure })
    expect(await cancel(retried)).toMatchObject({ kind: 'cancel_requested' })
    expect((await given.claim()).executions).toMatchObject([{ attemptKind: 'retry', unwinding: requested }])

    const stepped = await given.activeExecution()
    await journal.record(stepped, 'charge')
    await journal.record(stepped, 'ship', { outcome: stepRetry(60_000) })
    expect(await cancel(stepped)).toMatchObject({ kind: 'cancel_requested' })
    expect((await given.claim()).executions).toMatchObject([{ unwinding: requested }])
  })

  test('reaches it while it waits for a worker', async () => {
    const held = await given.activeExecution()
    await journal.record(held, 'charge')
    await fabric.run('releaseExecution', { ...held, reason: 'shutdown' })

    expect(await cancel(held)).toMatchObject({ kind: 'cancel_requested' })
    expect((await given.claim()).executions).toMatchObject([{ unwinding: requested }])
  })

  test('ends it at once if it is forced, if no step has completed, or after a replay from the start', async () => {
    const forced = await charged(given, journal)
    expect(await fabric.run('cancelExecution', { executionId: forced.executionId, ...forcedCancel })).toEqual({
      kind: 'cancelled',
    })
    const unstepped = await given.activeExecution()
    await journal.record(unstepped, 'ship', { outcome: stepRetry(60_000) })
    expect(await cancel(unstepped)).toEqual({ kind: 'cancelled' })

    const replayed = await given.activeExecution()
    await journal.record(replayed, 'charge')
    await fabric.run('completeExecution', replayed)
    const { executionId } = replayed
    await fabric.run('replayExecution', { executionId, requestId: given.requestId(), from: { kind: 'start' } })
    expect(await cancel(replayed)).toEqual({ kind: 'cancelled' })
  })

  test('by force ends one that is undoing its steps', async () => {
    const held = await charged(given, journal)
    await cancel(held)

    const { executionId } = held
    expect(await fabric.run('cancelExecution', { executionId, ...forcedCancel })).toEqual({ kind: 'cancelled' })
    expect(await fabric.look(executionId)).toMatchObject({ state: { phase: 'ended', outcome: 'cancelled' } })
  })

  test('gives a running handler as long as its compensation may take', async () => {
    const held = await given.activeExecution({ compensationTimeoutMs: 40_000 })
    await journal.record(held, 'charge')

    expect(await cancel(held)).toEqual({ kind: 'cancel_requested', forceAt: clock.now() + 40_000 })
    clock.advance(20_000)
    await fabric.run('renewLease', { ...held, leaseTtlMs: LEASE_TTL_MS })
    clock.advance(20_000)
    await fabric.duePass()
    expect(await fabric.look(held.executionId)).toMatchObject({ state: { phase: 'ended', outcome: 'cancelled' } })
  })

  test('gives the same time to a handler whose first step completes after the cancel', async () => {
    const held = await given.activeExecution()
    await cancel(held)
    clock.advance(1_000)
    await journal.record(held, 'charge')

    const forceAt = clock.now() + COMPENSATION_TIMEOUT_DEFAULT_MS
    expect(await fabric.look(held.executionId)).toMatchObject({ state: { cancel: { forceAt } } })
  })

  test('is not lost with a dead holder, however short its compensation may take', async () => {
    const held = await given.activeExecution({ compensationTimeoutMs: 5_000 })
    await journal.record(held, 'charge')
    await cancel(held)
    clock.advance(LEASE_TTL_MS)
    await fabric.duePass()

    expect((await given.claim()).executions).toMatchObject([{ unwinding: { ...requested, leftMs: 5_000 } }])
  })

  test('survives the loss of the lease of the handler that was asked to stop', async () => {
    const held = await given.activeExecution()
    await journal.record(held, 'charge')
    await cancel(held)
    clock.advance(LEASE_TTL_MS)
    expect((await fabric.duePass()).handled).toMatchObject([{ case: 'lease_expiry' }])

    expect((await given.claim()).executions).toMatchObject([
      { unwinding: { ...requested, leftMs: COMPENSATION_TIMEOUT_DEFAULT_MS } },
    ])
  })

  test.each(['release', 'delay', 'suspend', 'fail'] as const)(
    'is not lost when the holder, which does not know of it, ends its run: %s',
    async (how) => {
      const held = await given.activeExecution({ retry: fixedRetry(3, 60_000) })
      await journal.record(held, 'charge')
      await cancel(held)
      const run = {
        release: () => fabric.run('releaseExecution', { ...held, reason: 'shutdown' }),
        delay: () => fabric.run('delayExecution', { ...held, delayMs: 60_000 }),
        suspend: () => journal.wait(held),
        fail: () => fabric.run('failExecution', { ...held, ...transientFailure }),
      }[how]

      expect(await run()).toEqual({ kind: 'cancelled' })
      expect(await run()).toEqual({ kind: 'already_cancelled' })
      expect((await given.claim()).executions).toMatchObject([{ unwinding: requested }])
    },
  )
})

conforms('an execution that undoes its steps', ({ fabric, given, journal, clock }) => {
  async function unwinding(draft: Draft = {}): Promise<Held> {
    const { executionId } = await charged(given, journal, draft)
    await fabric.run('cancelExecution', { executionId, ...politeCancel })
    const [claimed] = (await given.claim()).executions
    if (claimed === undefined) throw new Error('the execution was not claimed')
    return heldOf(claimed)
  }

  test('ends as cancelled, whatever its handler returns', async () => {
    const held = await unwinding()
    await journal.record(held, 'refund')

    expect(await fabric.run('completeExecution', held)).toEqual({ kind: 'unwound', next: undefined })
    expect(await fabric.run('completeExecution', held)).toEqual({ kind: 'already_unwound', next: undefined })

    expect(await fabric.look(held.executionId)).toMatchObject({
      state: { phase: 'ended', outcome: 'cancelled', reason: 'not needed', by: 'operator' },
      result: undefined,
    })
    expect(await given.eventsOf(held, 'execution_ended')).toMatchObject([{ outcome: 'cancelled' }])
  })

  test('ends as cancelled when its handler cancels it with its fence', async () => {
    const held = await unwinding()
    const own = { ...held, ...politeCancel, by: 'worker', reason: 'done' }

    expect(await fabric.run('cancelExecution', own)).toEqual({ kind: 'cancelled' })
    expect(await fabric.run('cancelExecution', own)).toEqual({ kind: 'already_cancelled' })
    expect(await fabric.look(held.executionId)).toMatchObject({ state: { reason: 'not needed', by: 'operator' } })
  })

  test('is retried after a failure, and ends as cancelled with the failure after the last', async () => {
    const held = await unwinding({ retry: fixedRetry(2, 1_000) })
    expect(await fabric.run('failExecution', { ...held, ...transientFailure })).toMatchObject({
      kind: 'retry_scheduled',
    })
    clock.advance(1_000)
    const [again] = (await given.claim()).executions
    expect(again).toMatchObject({ attemptKind: 'retry', unwinding: requested })
    if (again === undefined) return

    expect(await fabric.run('failExecution', { ...heldOf(again), ...permanentFailure })).toEqual({ kind: 'unwound' })
    expect(await fabric.run('failExecution', { ...heldOf(again), ...permanentFailure })).toEqual({
      kind: 'already_unwound',
    })
    expect(await fabric.look(held.executionId)).toMatchObject({
      state: { phase: 'ended', outcome: 'cancelled', reason: 'not needed' },
      failure: { message: 'no such user' },
    })
  })

  test('is claimed again after a release, a delay, a sleep and a lost lease', async () => {
    let held = await unwinding()
    const again = async () => {
      const [claimed] = (await given.claim()).executions
      expect(claimed).toMatchObject({ unwinding: requested })
      if (claimed !== undefined) held = heldOf(claimed)
    }
    await fabric.run('releaseExecution', { ...held, reason: 'shutdown' })
    await again()
    await fabric.run('delayExecution', { ...held, delayMs: 1_000 })
    clock.advance(1_000)
    await again()
    await journal.sleep(held, 1_000)
    clock.advance(1_000)
    await again()
    clock.advance(LEASE_TTL_MS)
    await again()

    await fabric.run('completeExecution', held)
    expect(await fabric.look(held.executionId)).toMatchObject({ state: { outcome: 'cancelled' } })
  })

  test('ends when its running time is used up, counted over all its leases', async () => {
    const held = await unwinding({ compensationTimeoutMs: 30_000 })
    clock.advance(10_000)
    await fabric.run('releaseExecution', { ...held, reason: 'shutdown' })
    clock.advance(3_600_000)
    expect((await given.claim({ leaseTtlMs: 60_000 })).executions).toMatchObject([{ unwinding: { leftMs: 20_000 } }])
    clock.advance(19_999)
    expect((await fabric.duePass()).handled).toEqual([])
    clock.advance(1)
    expect((await fabric.duePass()).handled).toMatchObject([{ case: 'compensation_timeout' }])

    expect(await fabric.look(held.executionId)).toMatchObject({
      state: { phase: 'ended', outcome: 'cancelled', reason: 'not needed' },
      failure: { category: 'compensation_timeout' },
    })
  })

  test('ends when no worker has claimed it in time', async () => {
    const held = await charged(given, journal)
    await fabric.run('cancelExecution', { executionId: held.executionId, ...politeCancel })
    clock.advance(COMPENSATION_WAIT_MS - 1)
    expect((await fabric.duePass()).handled).toEqual([])
    clock.advance(1)

    expect((await fabric.duePass()).handled).toMatchObject([{ case: 'compensation_timeout' }])
    expect(await fabric.look(held.executionId)).toMatchObject({ state: { phase: 'ended', outcome: 'cancelled' } })
  })

  test('is subject to neither its attempt timeout nor its deadline', async () => {
    const held = await unwinding({ attemptTimeoutMs: 1_000, totalTimeoutMs: 5_000 })
    clock.advance(10_000)

    expect((await fabric.duePass()).handled).toEqual([])
    expect(await fabric.run('completeExecution', held)).toMatchObject({ kind: 'unwound' })
  })

  test('ends when its leases are lost too often', async () => {
    const held = await unwinding()
    for (let i = 0; i <= RECLAIM_CAP + COMPENSATION_RECLAIM_COUNT; i++) {
      await given.claim({ leaseTtlMs: 1_000 })
      await fabric.run('revokeLease', { executionId: held.executionId, reason: 'stuck', by: 'op' })
    }

    expect(await fabric.look(held.executionId)).toMatchObject({
      state: { phase: 'ended', outcome: 'cancelled' },
      failure: { category: 'lease_revoked' },
    })
  })

  test('starts from its beginning when it is replayed, so that undone steps run again', async () => {
    const held = await unwinding()
    await journal.record(held, 'refund')
    await fabric.run('completeExecution', held)
    const { executionId } = held

    expect(await fabric.run('replayExecution', { executionId, requestId: given.requestId() })).toMatchObject({
      kind: 'replayed',
    })
    const [claimed] = (await given.claim()).executions
    expect(claimed).toMatchObject({ attemptKind: 'replay', unwinding: undefined })
    if (claimed === undefined) return
    expect(await journal.record(heldOf(claimed), 'charge')).toMatchObject({ kind: 'recorded' })
    await fabric.run('completeExecution', heldOf(claimed))
    expect(await fabric.look(executionId)).toMatchObject({ state: { outcome: 'completed' } })
  })

  test('is explained, and cannot be replaced', async () => {
    const held = await charged(given, journal)
    const { executionId } = held
    await fabric.run('cancelExecution', { executionId, ...politeCancel })

    expect(await fabric.run('explainExecution', { executionId })).toMatchObject({
      explanation: { why: 'waits_for_worker' },
      unwinding: { ...requested, endsAt: clock.now() + COMPENSATION_WAIT_MS },
    })
    expect((await refusal(fabric, () => given.submit({ executionId, ifExists: 'replace' }))).code).toBe(
      'execution_in_progress',
    )
  })
})

conforms('the deadline of an execution with completed steps', ({ fabric, given, journal, clock }) => {
  test('wakes it from its wait, and it ends as expired', async () => {
    const held = await charged(given, journal, { totalTimeoutMs: 60_000 })
    clock.advance(60_000)
    expect((await fabric.duePass()).handled).toMatchObject([{ case: 'execution_deadline' }])

    const [claimed] = (await given.claim()).executions
    expect(claimed).toMatchObject({ unwinding: { outcome: 'expired', reason: 'execution_deadline', by: undefined } })
    if (claimed === undefined) return
    expect(await fabric.run('completeExecution', heldOf(claimed))).toMatchObject({ kind: 'unwound' })
    expect(await fabric.look(held.executionId)).toMatchObject({
      state: { phase: 'ended', outcome: 'expired', reason: 'execution_deadline' },
      failure: { category: 'deadline' },
    })
  })

  test('takes the lease from a running handler, which may then undo its steps', async () => {
    const held = await given.activeExecution({ totalTimeoutMs: 10_000 })
    await journal.record(held, 'charge')
    clock.advance(10_000)
    await fabric.duePass()

    expect((await refusal(fabric, () => fabric.run('completeExecution', held))).code).toBe('execution_not_active')
    expect((await given.claim()).executions).toMatchObject([{ unwinding: { outcome: 'expired' } }])
  })
})

conforms('a cancelled flow whose members have completed steps', ({ fabric, given, journal, flows }) => {
  const polite = { force: false, graceMs: 60_000 } as const

  test.each(['cancel_all', 'cancel_pending'] as const)('wakes them to undo the steps (%s)', async (policy) => {
    const graph = await flows.graph({ a: [], b: ['a'] }, { class: CLASS })
    const held = await graph.claim('a')
    await journal.record(held, 'charge')
    await journal.wait(held)

    expect(await graph.cancel({ ...polite, policy })).toMatchObject({ settled: false, liveCount: 1 })
    expect(await graph.states()).toEqual(['waiting', 'cancelled'])
    const [claimed] = (await given.claim()).executions
    expect(claimed).toMatchObject({ unwinding: { outcome: 'cancelled', reason: 'not needed' } })
    if (claimed === undefined) return
    await fabric.run('completeExecution', { ...heldOf(claimed), flowId: claimed.flowId })

    expect(await graph.states()).toEqual(['cancelled', 'cancelled'])
    expect(await graph.view()).toMatchObject({ state: 'cancelled', settled: true })
  })

  test('wakes a member that waits for others, which then neither waits again nor is skipped', async () => {
    const graph = await flows.graph({ parent: [] }, { class: CLASS })
    const holder = await graph.claim('parent')
    await journal.record(holder, 'charge')
    await graph.add('child', { holder, awaited: { hands: { as: 'input', name: 'it' } } })
    await fabric.run('waitForChildren', holder)
    await graph.cancel(polite)
    const [claimed] = (await given.claim()).executions
    if (claimed === undefined) throw new Error('the execution was not claimed')

    expect(claimed).toMatchObject({ executionId: holder.executionId, unwinding: { outcome: 'cancelled' } })
    expect(await fabric.run('waitForChildren', heldOf(claimed))).toEqual({ kind: 'unwinding' })
    expect(await fabric.run('completeExecution', { ...heldOf(claimed), flowId: claimed.flowId })).toMatchObject({
      kind: 'unwound',
    })
  })

  test('ends them at once if it is forced', async () => {
    const graph = await flows.graph({ a: [] })
    const held = await graph.claim('a')
    await journal.record(held, 'charge')
    await journal.wait(held)

    expect(await graph.cancel({ force: true })).toMatchObject({ settled: true })
    expect(await graph.state('a')).toBe('cancelled')
  })

  test('also wakes a member that becomes claimable during the cancel', async () => {
    const graph = await flows.graph({ a: [] }, { class: CLASS })
    const held = await graph.claim('a')
    await journal.record(held, 'charge')
    await graph.cancel(polite)
    expect(await fabric.run('releaseExecution', { ...held, reason: 'shutdown' })).toEqual({ kind: 'cancelled' })

    expect((await given.claim()).executions).toMatchObject([{ unwinding: { outcome: 'cancelled' } }])
  })

  test('a loser of a race undoes its steps, and counts as superseded', async () => {
    const graph = await flows.graph({ slow: [], fast: [], first: ['slow', 'fast'] }, { policies: { first: anyOf } })
    const held = await graph.claim('slow')
    await journal.record(held, 'charge')
    await journal.wait(held)
    await graph.complete('fast')
    await flows.drain()

    expect(await graph.state('slow')).toBe('waiting')
    await fabric.run('completeExecution', await graph.claim('slow'))
    expect(await graph.state('slow')).toBe('cancelled')
    expect((await graph.view()).flow.counts).toMatchObject({ superseded: 1 })
  })
})

conforms('a held flow', ({ fabric, given, journal, flows, clock }) => {
  /** An execution that was cancelled and waits for a worker to undo its steps. */
  async function stopped(): Promise<Held['executionId']> {
    const { executionId } = await charged(given, journal)
    await fabric.run('cancelExecution', { executionId, ...politeCancel })
    return executionId
  }

  async function claimStopped(): Promise<Held> {
    const [claimed] = (await given.claim()).executions
    expect(claimed).toMatchObject({ unwinding: requested })
    if (claimed === undefined) throw new Error('the execution was not claimed')
    return heldOf(claimed)
  }

  test('does not block a member that undoes its steps when it is added', async () => {
    const graph = await flows.held()
    const executionId = await stopped()

    expect(await graph.add('a', { executionId })).toMatchObject({ kind: 'added', state: 'waiting' })

    expect((await graph.look('a')).state).toEqual({ phase: 'eligible' })
    expect(await fabric.run('completeExecution', await claimStopped())).toMatchObject({ kind: 'unwound' })
    expect(await graph.state('a')).toBe('cancelled')
  })

  test('keeps the delay of such a member, and no more', async () => {
    const graph = await flows.held()
    await stopped()
    const held = await claimStopped()
    await fabric.run('delayExecution', { ...held, delayMs: 1_000 })

    await graph.add('a', held)
    expect((await graph.look('a')).state).toMatchObject({ phase: 'delayed' })
    clock.advance(1_000)
    await fabric.duePass()

    expect(await claimStopped()).toMatchObject({ executionId: held.executionId })
  })

  test.each(['released', 'delayed by nothing', 'lost', 'resumed'] as const)(
    'does not block such a member that is %s',
    async (how) => {
      const graph = await flows.held()
      await stopped()
      const held = await claimStopped()
      await graph.add('a', held)

      if (how === 'released') await fabric.run('releaseExecution', { ...held, reason: 'shutdown' })
      if (how === 'delayed by nothing') await fabric.run('delayExecution', { ...held, delayMs: 0 })
      if (how === 'resumed') await journal.wait(held, { name: 'undone' })
      if (how === 'resumed') await fabric.run('resumeExecution', { ...held, by: 'operator', reason: 'enough' })
      if (how === 'lost') clock.advance(LEASE_TTL_MS)
      await fabric.duePass()

      expect(await claimStopped()).toMatchObject({ executionId: held.executionId })
    },
  )

  test('blocks a member that undoes nothing as before', async () => {
    const graph = await flows.held()
    const held = await given.activeExecution()
    await journal.record(held, 'charge')
    await graph.add('a', held)

    await fabric.run('releaseExecution', { ...held, reason: 'shutdown' })

    expect((await graph.look('a')).state).toEqual({ phase: 'blocked', by: 'hold' })
  })
})
