import { expect, test } from 'vitest'
import { LEASE_TTL_MS, fixedRetry, politeCancel, reachablePhases } from './given.ts'
import { conforms } from './harness.ts'

const TIMEOUT_MS = 10_000

conforms('the attempt timeout', ({ fabric, given, clock }) => {
  test('with an attempt left, is a failure that the policy retries', async () => {
    const held = await given.activeExecution({ attemptTimeoutMs: TIMEOUT_MS, retry: fixedRetry(2, 3_000) })
    clock.advance(TIMEOUT_MS)

    expect((await fabric.duePass()).handled).toEqual([{ case: 'attempt_timeout', executionId: held.executionId }])

    expect(await fabric.look(held.executionId)).toMatchObject({
      state: { phase: 'delayed', until: clock.now() + 3_000, cause: 'retry' },
      failureCount: 1,
      failure: { category: 'timeout' },
    })
    expect(await fabric.attemptsOf(held.executionId)).toMatchObject([
      { outcome: 'timed_out', failure: { category: 'timeout' } },
    ])
    clock.advance(3_000)
    expect((await given.claim()).executions).toMatchObject([
      { attemptKind: 'retry', timeoutAt: clock.now() + TIMEOUT_MS, fence: { attempt: 2 } },
    ])
  })

  test('without an attempt left, expires the execution', async () => {
    const held = await given.activeExecution({ attemptTimeoutMs: TIMEOUT_MS })
    clock.advance(TIMEOUT_MS)
    await fabric.duePass()

    expect(await fabric.look(held.executionId)).toMatchObject({
      state: { phase: 'ended', outcome: 'expired', reason: 'attempt_timeout' },
      failure: { category: 'timeout' },
      failureCount: 1,
    })
    expect(await fabric.attemptsOf(held.executionId)).toMatchObject([{ outcome: 'timed_out' }])
  })

  test('is judged by the categories of the policy', async () => {
    const retry = { ...fixedRetry(5, 0), onlyCategories: ['transient'] }
    const held = await given.activeExecution({ attemptTimeoutMs: TIMEOUT_MS, retry })
    clock.advance(TIMEOUT_MS)
    await fabric.duePass()

    expect((await fabric.look(held.executionId)).state).toMatchObject({ outcome: 'expired' })
  })

  test('does not happen a millisecond earlier', async () => {
    await given.activeExecution({ attemptTimeoutMs: TIMEOUT_MS })
    clock.advance(TIMEOUT_MS - 1)

    expect(await fabric.duePass()).toMatchObject({ handled: [], nextDueAt: clock.now() + 1 })
  })

  test('refuses the result of the former holder', async () => {
    const held = await given.activeExecution({ attemptTimeoutMs: TIMEOUT_MS, retry: fixedRetry(2, 3_000) })
    clock.advance(TIMEOUT_MS)
    await fabric.duePass()

    expect(await fabric.run('completeExecution', held)).toMatchObject({
      code: 'execution_not_active',
      detail: { state: 'delayed' },
    })
  })

  test('counts the time an attempt has run, on any worker, and not the time it was parked', async () => {
    const held = await given.activeExecution({ attemptTimeoutMs: TIMEOUT_MS })
    clock.advance(4_000)
    await fabric.run('releaseExecution', { ...held, reason: 'shutdown' })
    clock.advance(60_000)
    const second = await given.claim()
    expect(second.executions[0]!.timeoutAt).toBe(clock.now() + TIMEOUT_MS - 4_000)

    clock.advance(3_000)
    await fabric.run('delayExecution', {
      executionId: held.executionId,
      fence: second.executions[0]!.fence,
      delayMs: 90_000,
    })
    clock.advance(90_000)
    const third = await given.claim()
    expect(third.executions[0]!.timeoutAt).toBe(clock.now() + TIMEOUT_MS - 7_000)

    clock.advance(3_000)
    expect((await fabric.duePass()).handled).toMatchObject([{ case: 'attempt_timeout' }])
  })

  test('does not count the time that an execution waited in the hands of a worker that never began', async () => {
    const held = await given.activeExecution({ attemptTimeoutMs: TIMEOUT_MS })
    clock.advance(4_000)
    await fabric.run('releaseExecution', { ...held, reason: 'shutdown', isUnstarted: true })

    const second = await given.claim()
    expect(second.executions[0]!.timeoutAt).toBe(clock.now() + TIMEOUT_MS)
  })

  test('cannot be escaped by handing back just too late', async () => {
    const held = await given.activeExecution({ attemptTimeoutMs: TIMEOUT_MS })
    clock.advance(TIMEOUT_MS + 1)
    await fabric.run('releaseExecution', { ...held, reason: 'shutdown' })
    await given.claimOf(held)

    expect((await fabric.duePass()).handled).toMatchObject([{ case: 'attempt_timeout' }])
  })

  test('two engines time an attempt out once', async () => {
    const held = await given.activeExecution({ attemptTimeoutMs: TIMEOUT_MS, retry: fixedRetry(5, 0) })
    clock.advance(TIMEOUT_MS)
    await Promise.all([fabric.duePass(), fabric.duePass()])

    expect((await fabric.look(held.executionId)).failureCount).toBe(1)
  })
})

conforms('the total deadline', ({ fabric, given, clock }) => {
  test.each(reachablePhases.filter((phase) => phase !== 'ended'))('ends a %s execution as expired', async (phase) => {
    const { executionId } = await given.inPhase(phase, { totalTimeoutMs: TIMEOUT_MS, retry: fixedRetry(9, 0) })
    clock.advance(TIMEOUT_MS)

    expect((await fabric.duePass()).handled).toEqual([{ case: 'execution_deadline', executionId }])

    expect(await fabric.look(executionId)).toMatchObject({
      state: { phase: 'ended', outcome: 'expired', reason: 'execution_deadline', at: clock.now() },
      failure: { category: 'deadline' },
    })
    const attempts = (await fabric.attemptsOf(executionId)).map((attempt) => attempt.outcome)
    expect(attempts).toEqual(phase === 'active' ? ['expired'] : [])
    expect(await given.eventsOf({ executionId }, 'execution_ended')).toMatchObject([
      { outcome: 'expired', reason: 'execution_deadline', category: 'deadline' },
    ])
  })

  test('leaves an ended execution as it is', async () => {
    const { executionId } = await given.endedExecution('completed', { totalTimeoutMs: TIMEOUT_MS })
    clock.advance(TIMEOUT_MS)
    await fabric.duePass()

    expect((await fabric.look(executionId)).state).toMatchObject({ outcome: 'completed' })
  })

  test('does not happen a millisecond earlier', async () => {
    await given.eligibleExecution({ totalTimeoutMs: TIMEOUT_MS })
    clock.advance(TIMEOUT_MS - 1)

    expect(await fabric.duePass()).toMatchObject({ handled: [], nextDueAt: clock.now() + 1 })
  })

  test('survives retries, releases, delays and lost leases', async () => {
    const submitted = await given.eligibleExecution({ totalTimeoutMs: 100_000, retry: fixedRetry(9, 0) })
    const deadlineAt = clock.now() + 100_000
    const first = await given.claimOf(submitted)
    await fabric.run('failExecution', { ...first, failure: { category: 'transient', message: 'no' }, seed: 1 })
    const second = await given.claimOf(submitted)
    await fabric.run('releaseExecution', { ...second, reason: 'shutdown' })
    const third = await given.claimOf(submitted)
    await fabric.run('delayExecution', { ...third, delayMs: 1_000 })
    clock.advance(1_000)
    await given.claimOf(submitted)
    clock.advance(LEASE_TTL_MS)
    await fabric.duePass()

    expect((await fabric.look(submitted.executionId)).deadlineAt).toBe(deadlineAt)
    clock.advanceTo(deadlineAt)
    await fabric.duePass()
    expect((await fabric.look(submitted.executionId)).state).toMatchObject({ outcome: 'expired' })
  })

  test('comes before a cancel whose grace is not over', async () => {
    const { executionId } = await given.activeExecution({ totalTimeoutMs: 2_000 })
    await fabric.run('cancelExecution', { executionId, ...politeCancel })
    clock.advance(2_000)
    await fabric.duePass()

    expect((await fabric.look(executionId)).state).toMatchObject({ outcome: 'expired' })
  })

  test('refuses the result of a holder that comes too late', async () => {
    const held = await given.endedExecution('expired')

    expect(await fabric.run('completeExecution', held)).toMatchObject({ detail: { outcome: 'expired' } })
  })
})
