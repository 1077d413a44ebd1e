import { expect, test } from 'vitest'
import {
  LEASE_TTL_MS,
  RETENTION_MS,
  fixedRetry,
  noRetry,
  permanentFailure,
  politeCancel,
  transientFailure,
} from './given.ts'
import { conforms } from './harness.ts'

conforms('failExecution', ({ fabric, given, clock }) => {
  test('schedules another attempt while the policy has one left', async () => {
    const held = await given.activeExecution({ retry: fixedRetry(3, 2_000) })
    clock.advance(50)

    const result = await fabric.run('failExecution', {
      ...held,
      failure: { category: 'transient', message: 'no connection', stack: 'at connect' },
      seed: 1,
    })

    const retryAt = clock.now() + 2_000
    expect(result).toEqual({ kind: 'retry_scheduled', retryAt })
    expect(await fabric.look(held.executionId)).toMatchObject({
      state: { phase: 'delayed', until: retryAt, cause: 'retry' },
      next: 'retry',
      failureCount: 1,
      failure: { category: 'transient', message: 'no connection', stack: 'at connect', at: clock.now() },
    })
  })

  test('keeps the failed attempt in history: who, when, how and why', async () => {
    const held = await given.activeExecution({ retry: fixedRetry(3, 0) }, { workerInstanceId: 'worker-9' })
    const startedAt = clock.now()
    clock.advance(50)
    await fabric.run('failExecution', { ...held, ...transientFailure })

    expect(await fabric.attemptsOf(held.executionId)).toEqual([
      expect.objectContaining({
        number: 1,
        kind: 'initial',
        startedAt,
        endedAt: clock.now(),
        epoch: 1,
        workerId: 'worker',
        workerInstanceId: 'worker-9',
        outcome: 'failed',
        failure: { category: 'transient', message: 'no connection', stack: undefined, at: clock.now() },
      }),
    ])
  })

  test('the next attempt has the next number and is marked as a retry', async () => {
    const held = await given.activeExecution({ retry: fixedRetry(2, 1_000) })
    await fabric.run('failExecution', { ...held, ...transientFailure })
    clock.advance(1_000)

    const { executions } = await given.claim()

    expect(executions).toMatchObject([{ attemptKind: 'retry', failureCount: 1, fence: { attempt: 2, epoch: 2 } }])
  })

  test('cannot be claimed before the wait is over', async () => {
    const held = await given.activeExecution({ retry: fixedRetry(2, 1_000) })
    await fabric.run('failExecution', { ...held, ...transientFailure })
    clock.advance(999)

    expect((await given.claim()).executions).toEqual([])
  })

  test('a wait of nothing makes the execution claimable at once', async () => {
    const held = await given.activeExecution({ retry: fixedRetry(2, 0) })

    expect(await fabric.run('failExecution', { ...held, ...transientFailure })).toEqual({
      kind: 'retry_scheduled',
      retryAt: clock.now(),
    })
    expect((await fabric.look(held.executionId)).state).toEqual({ phase: 'eligible' })
    expect((await given.claim()).executions).toMatchObject([{ attemptKind: 'retry' }])
  })

  test('ends the execution when its attempts are used up', async () => {
    const submitted = await given.eligibleExecution({ retry: fixedRetry(3, 0) })
    const kinds: string[] = []
    for (let i = 0; i < 3; i++) {
      const held = await given.claimOf(submitted)
      kinds.push((await fabric.run('failExecution', { ...held, ...transientFailure })).kind)
    }

    expect(kinds).toEqual(['retry_scheduled', 'retry_scheduled', 'failed'])
    expect(await fabric.look(submitted.executionId)).toMatchObject({
      state: { phase: 'ended', outcome: 'failed', at: clock.now(), reason: 'no connection' },
      failureCount: 3,
      failure: { category: 'transient' },
    })
    expect(await fabric.attemptsOf(submitted.executionId)).toHaveLength(3)
    expect(await given.purgeAt(submitted)).toBe(clock.now() + RETENTION_MS)
  })

  test('without a policy of its own the first failure is final', async () => {
    const held = await given.activeExecution({ retry: noRetry })

    expect(await fabric.run('failExecution', { ...held, ...transientFailure })).toEqual({ kind: 'failed' })
  })

  test.each(['permanent', 'cancelled'])('a %s failure is final whatever the policy says', async (category) => {
    const held = await given.activeExecution({ retry: fixedRetry(10, 0) })

    const result = await fabric.run('failExecution', { ...held, failure: { category, message: 'no' }, seed: 1 })

    expect(result).toEqual({ kind: 'failed' })
  })

  test('a permanent failure is final even if the policy names it or the failure asks for a wait', async () => {
    const retry = { ...fixedRetry(10, 0), onlyCategories: ['permanent'] }
    const held = await given.activeExecution({ retry })

    expect(await fabric.run('failExecution', { ...held, ...permanentFailure, retryAfterMs: 5 })).toEqual({
      kind: 'failed',
    })
  })

  test('a policy that names categories retries these and no others', async () => {
    const retry = { ...fixedRetry(10, 0), onlyCategories: ['rate_limit', 'timeout'] }
    const listed = await given.activeExecution({ retry, lane: 'a' })
    const unlisted = await given.activeExecution({ retry, lane: 'b' })
    const failure = { category: 'rate_limit', message: 'slow down' }

    expect(await fabric.run('failExecution', { ...listed, failure, seed: 1 })).toMatchObject({
      kind: 'retry_scheduled',
    })
    expect(await fabric.run('failExecution', { ...unlisted, ...transientFailure })).toEqual({ kind: 'failed' })
  })

  test('repeated, is answered with the wait that was decided the first time', async () => {
    const held = await given.activeExecution({ retry: fixedRetry(3, 2_000) })
    const first = await fabric.run('failExecution', { ...held, ...transientFailure })
    const before = await fabric.dump()
    clock.advance(500)

    const again = await fabric.run('failExecution', { ...held, ...transientFailure, seed: 99 })

    expect(first).toMatchObject({ kind: 'retry_scheduled' })
    expect(again).toEqual({ ...first, kind: 'already_scheduled' })
    expect(await fabric.dump()).toEqual(before)
  })

  test('repeated, is still recognised when the wait is over and no worker has claimed', async () => {
    const held = await given.activeExecution({ retry: fixedRetry(3, 2_000) })
    const first = await fabric.run('failExecution', { ...held, ...transientFailure })
    clock.advance(2_000)
    await fabric.duePass()

    expect(await fabric.run('failExecution', { ...held, ...transientFailure })).toEqual({
      ...first,
      kind: 'already_scheduled',
    })
  })

  test('repeated when final, fails the execution once', async () => {
    const held = await given.activeExecution()
    await fabric.run('failExecution', { ...held, ...permanentFailure })
    const before = await fabric.dump()

    expect(await fabric.run('failExecution', { ...held, ...permanentFailure })).toEqual({ kind: 'already_failed' })
    expect(await fabric.dump()).toEqual(before)
  })

  test('repeated after the retry was claimed, is stale', async () => {
    const held = await given.activeExecution({ retry: fixedRetry(3, 0) })
    await fabric.run('failExecution', { ...held, ...transientFailure })
    await given.claimOf(held)

    expect(await fabric.run('failExecution', { ...held, ...transientFailure })).toMatchObject({ code: 'stale_lease' })
  })

  test('while a cancel is requested, ends the execution as cancelled and schedules nothing', async () => {
    const held = await given.activeExecution({ retry: fixedRetry(3, 0) })
    await fabric.run('cancelExecution', { executionId: held.executionId, ...politeCancel })

    const first = await fabric.run('failExecution', { ...held, ...transientFailure })
    const again = await fabric.run('failExecution', { ...held, ...transientFailure })

    expect([first.kind, again.kind]).toEqual(['cancelled', 'already_cancelled'])
    expect(await fabric.look(held.executionId)).toMatchObject({
      state: { outcome: 'cancelled', reason: 'not needed', by: 'operator' },
      failureCount: 0,
    })
    expect(await fabric.attemptsOf(held.executionId)).toMatchObject([{ number: 1, outcome: 'cancelled' }])
  })

  test('emits an event for the failed attempt, and for the end when it is final', async () => {
    const submitted = await given.eligibleExecution({ retry: fixedRetry(2, 500) })
    const first = await given.claimOf(submitted)
    await fabric.run('failExecution', { ...first, ...transientFailure })
    const failedAt = clock.now()
    clock.advance(500)
    await fabric.run('failExecution', { ...(await given.claimOf(submitted)), ...transientFailure })

    expect(await given.eventTypesOf(submitted)).toEqual([
      'execution_created',
      'attempt_started',
      'attempt_failed',
      'execution_promoted',
      'attempt_started',
      'execution_ended',
    ])
    expect(await given.eventsOf(submitted, 'attempt_failed')).toMatchObject([
      { attempt: 1, epoch: 1, until: failedAt + 500, reason: 'no connection', category: 'transient' },
    ])
    expect(await given.eventsOf(submitted, 'execution_ended')).toMatchObject([
      { attempt: 2, outcome: 'failed', reason: 'no connection', category: 'transient' },
    ])
  })

  test('keeps the deadline armed while it waits for a retry', async () => {
    const held = await given.activeExecution({ retry: fixedRetry(3, 60_000), totalTimeoutMs: 40_000 })
    await fabric.run('failExecution', { ...held, ...transientFailure })
    clock.advance(40_000)

    expect((await fabric.duePass()).handled).toMatchObject([{ case: 'execution_deadline' }])
    expect((await fabric.look(held.executionId)).state).toMatchObject({ outcome: 'expired' })
    expect(await fabric.attemptsOf(held.executionId)).toMatchObject([{ outcome: 'failed' }])
  })

  test('a lost lease does not use up an attempt of the policy', async () => {
    const submitted = await given.eligibleExecution({ retry: fixedRetry(2, 0) })
    await given.claimOf(submitted)
    clock.advance(LEASE_TTL_MS)
    const second = await given.claimOf(submitted)

    expect(await fabric.run('failExecution', { ...second, ...transientFailure })).toMatchObject({
      kind: 'retry_scheduled',
    })
  })

  test('is refused after expiry and changes nothing', async () => {
    const held = await given.abandonedExecution({ retry: fixedRetry(3, 0) })
    const before = await fabric.dump()

    expect(await fabric.run('failExecution', { ...held, ...transientFailure })).toMatchObject({ code: 'lease_expired' })
    expect(await fabric.dump()).toEqual(before)
  })
})
