import { expect, test } from 'vitest'
import {
  GRACE_MS,
  LEASE_TTL_MS,
  RETENTION_MS,
  fixedRetry,
  forcedCancel,
  politeCancel,
  transientFailure,
} from './given.ts'
import { conforms } from './harness.ts'

conforms('cancelExecution', ({ fabric, given, clock }) => {
  test.each(['eligible', 'delayed'] as const)('ends a %s execution at once', async (phase) => {
    const submitted = await given.inPhase(phase, { totalTimeoutMs: 500_000 })
    clock.advance(10)

    expect(await fabric.run('cancelExecution', { ...submitted, ...politeCancel })).toEqual({ kind: 'cancelled' })

    const { state, attempt } = await fabric.look(submitted.executionId)
    expect(state).toEqual({
      phase: 'ended',
      outcome: 'cancelled',
      at: clock.now(),
      reason: 'not needed',
      by: 'operator',
    })
    expect(attempt).toBeUndefined()
    expect(await fabric.attemptsOf(submitted.executionId)).toEqual([])
    expect((await given.claim()).executions).toEqual([])
    expect(await given.purgeAt(submitted)).toBe(clock.now() + RETENTION_MS)
    expect(await given.eventsOf(submitted, 'execution_ended')).toMatchObject([
      { outcome: 'cancelled', reason: 'not needed', by: 'operator' },
    ])
  })

  test('asks the holder of a running execution first, which may continue within the grace', async () => {
    const held = await given.activeExecution()
    clock.advance(10)

    const result = await fabric.run('cancelExecution', { executionId: held.executionId, ...politeCancel })

    const forceAt = clock.now() + GRACE_MS
    expect(result).toEqual({ kind: 'cancel_requested', forceAt })
    expect((await fabric.look(held.executionId)).state).toMatchObject({
      phase: 'active',
      cancel: { reason: 'not needed', by: 'operator', at: clock.now(), forceAt },
    })
    expect(await given.eventsOf(held, 'cancel_requested')).toMatchObject([
      { attempt: 1, until: forceAt, reason: 'not needed', by: 'operator', workerInstanceId: 'worker-1' },
    ])
    expect(await fabric.run('updateProgress', { ...held, percent: 90 })).toMatchObject({ kind: 'updated' })
  })

  test('ends a running execution when the grace is over, not before', async () => {
    const held = await given.activeExecution()
    await fabric.run('cancelExecution', { executionId: held.executionId, ...politeCancel })

    clock.advance(GRACE_MS - 1)
    expect((await fabric.duePass()).handled).toEqual([])
    clock.advance(1)
    expect((await fabric.duePass()).handled).toEqual([{ case: 'cancel_grace', executionId: held.executionId }])

    expect((await fabric.look(held.executionId)).state).toMatchObject({
      outcome: 'cancelled',
      reason: 'not needed',
      by: 'operator',
    })
    expect(await fabric.attemptsOf(held.executionId)).toMatchObject([{ number: 1, outcome: 'cancelled' }])
  })

  test('repeated, keeps the first request, its reason and its grace', async () => {
    const held = await given.activeExecution()
    const first = await fabric.run('cancelExecution', { executionId: held.executionId, ...politeCancel })
    const before = await fabric.dump()
    clock.advance(1_000)

    const again = await fabric.run('cancelExecution', {
      executionId: held.executionId,
      reason: 'another reason',
      by: 'another caller',
      force: false,
      graceMs: 60_000,
    })

    expect(again).toEqual(first)
    expect(await fabric.dump()).toEqual(before)
  })

  test('with force, ends a running execution at once, also after it was asked for', async () => {
    const held = await given.activeExecution()
    await fabric.run('cancelExecution', { executionId: held.executionId, ...politeCancel })

    expect(await fabric.run('cancelExecution', { executionId: held.executionId, ...forcedCancel })).toEqual({
      kind: 'cancelled',
    })

    expect((await fabric.look(held.executionId)).state).toMatchObject({ phase: 'ended', outcome: 'cancelled' })
    expect(await fabric.attemptsOf(held.executionId)).toMatchObject([{ outcome: 'cancelled' }])
    expect((await fabric.duePass()).nextDueAt).toBeUndefined()
  })

  test('with no grace, the next due pass ends it', async () => {
    const held = await given.activeExecution()
    await fabric.run('cancelExecution', { executionId: held.executionId, ...politeCancel, graceMs: 0 })

    expect((await fabric.duePass()).handled).toMatchObject([{ case: 'cancel_grace' }])
  })

  test('by the holder itself needs no grace', async () => {
    const held = await given.activeExecution()

    expect(await fabric.run('cancelExecution', { ...held, ...politeCancel, by: 'worker-1' })).toEqual({
      kind: 'cancelled',
    })
    expect((await fabric.look(held.executionId)).state).toMatchObject({ outcome: 'cancelled', by: 'worker-1' })
  })

  test('by a holder whose lease has expired, is refused and changes nothing', async () => {
    const held = await given.abandonedExecution()
    const before = await fabric.dump()

    expect(await fabric.run('cancelExecution', { ...held, ...forcedCancel })).toMatchObject({ code: 'lease_expired' })
    expect(await fabric.dump()).toEqual(before)
  })

  test('by a holder that was replaced, is refused and does not affect the new holder', async () => {
    const old = await given.abandonedExecution()
    const current = await given.claimOf(old)

    expect(await fabric.run('cancelExecution', { ...old, ...forcedCancel })).toMatchObject({ code: 'stale_lease' })
    expect(await fabric.run('completeExecution', current)).toMatchObject({ kind: 'completed' })
  })

  test('by a holder that has released, is refused', async () => {
    const held = await given.activeExecution({ retry: fixedRetry(2, 5_000) })
    await fabric.run('failExecution', { ...held, ...transientFailure })

    expect(await fabric.run('cancelExecution', { ...held, ...forcedCancel })).toMatchObject({
      code: 'execution_not_active',
    })
    expect((await fabric.look(held.executionId)).state.phase).toBe('delayed')
  })

  test('repeated, cancels once', async () => {
    const submitted = await given.eligibleExecution()
    await fabric.run('cancelExecution', { ...submitted, ...politeCancel })
    const before = await fabric.dump()

    expect(await fabric.run('cancelExecution', { ...submitted, ...politeCancel })).toEqual({
      kind: 'already_cancelled',
    })
    expect(await fabric.run('cancelExecution', { ...submitted, ...forcedCancel })).toEqual({
      kind: 'already_cancelled',
    })
    expect(await fabric.dump()).toEqual(before)
  })

  test.each(['completed', 'failed', 'expired'] as const)('of an execution that %s, is refused', async (outcome) => {
    const { executionId } = await given.endedExecution(outcome)
    const before = await fabric.dump()

    expect(await fabric.run('cancelExecution', { executionId, ...forcedCancel })).toMatchObject({
      kind: 'refused',
      code: 'execution_ended',
      detail: { outcome },
    })
    expect(await fabric.dump()).toEqual(before)
  })

  test('of an execution whose lease has expired, takes effect at once', async () => {
    const held = await given.abandonedExecution()

    expect(await fabric.run('cancelExecution', { executionId: held.executionId, ...politeCancel })).toEqual({
      kind: 'cancelled',
    })
    expect(await fabric.attemptsOf(held.executionId)).toMatchObject([{ number: 1, outcome: 'cancelled' }])
  })

  test('is not lost when the holder goes silent: the lost lease ends the execution', async () => {
    const held = await given.activeExecution()
    await fabric.run('cancelExecution', { executionId: held.executionId, ...politeCancel, graceMs: 600_000 })
    clock.advance(LEASE_TTL_MS)

    expect((await fabric.duePass()).handled).toMatchObject([{ case: 'lease_expiry' }])
    expect((await fabric.look(held.executionId)).state).toMatchObject({ outcome: 'cancelled', by: 'operator' })
  })

  test('is not lost when the lease is revoked', async () => {
    const { executionId } = await given.activeExecution()
    await fabric.run('cancelExecution', { executionId, ...politeCancel, graceMs: 600_000 })

    expect(await fabric.run('revokeLease', { executionId, reason: 'stuck', by: 'operator' })).toMatchObject({
      kind: 'revoked',
      ended: 'cancelled',
    })
    expect((await fabric.look(executionId)).state).toMatchObject({ outcome: 'cancelled', reason: 'not needed' })
  })

  test('is not lost when the attempt times out: no other attempt follows', async () => {
    const { executionId } = await given.activeExecution({ attemptTimeoutMs: 1_000, retry: fixedRetry(5, 0) })
    await fabric.run('cancelExecution', { executionId, ...politeCancel, graceMs: 600_000 })
    clock.advance(1_000)

    expect((await fabric.duePass()).handled).toMatchObject([{ case: 'attempt_timeout' }])
    expect((await fabric.look(executionId)).state).toMatchObject({ outcome: 'cancelled', by: 'operator' })
  })

  test('ends what waits for a retry; its history is kept', async () => {
    const held = await given.activeExecution({ retry: fixedRetry(2, 5_000) })
    await fabric.run('failExecution', { ...held, ...transientFailure })

    await fabric.run('cancelExecution', { executionId: held.executionId, ...politeCancel })

    expect((await fabric.look(held.executionId)).state).toMatchObject({ outcome: 'cancelled' })
    expect(await fabric.attemptsOf(held.executionId)).toMatchObject([{ number: 1, outcome: 'failed' }])
  })

  test('of a replayed execution works as of any other', async () => {
    const { executionId } = await given.endedExecution('cancelled')
    await fabric.run('replayExecution', { executionId, requestId: given.requestId() })

    expect(await fabric.run('cancelExecution', { executionId, ...politeCancel })).toEqual({ kind: 'cancelled' })
    expect(await given.eventsOf({ executionId }, 'execution_ended')).toHaveLength(2)
  })
})
