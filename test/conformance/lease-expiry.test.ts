import { expect, test } from 'vitest'
import { ATTEMPT_HISTORY_MAX, RECLAIM_CAP } from '../../src/kernel/index.ts'
import { LEASE_TTL_MS, fixedRetry, transientFailure } from './given.ts'
import { conforms } from './harness.ts'

conforms('a lease that expires', ({ fabric, given, clock }) => {
  test('puts the execution back into its queue, for a new attempt', async () => {
    const held = await given.activeExecution({ priority: 3 })
    clock.advance(LEASE_TTL_MS)

    expect((await fabric.duePass()).handled).toEqual([{ case: 'lease_expiry', executionId: held.executionId }])

    expect(await fabric.look(held.executionId)).toMatchObject({
      state: { phase: 'eligible' },
      next: 'reclaim',
      reclaimCount: 1,
      failureCount: 0,
      epoch: 1,
    })
    expect(await fabric.attemptsOf(held.executionId)).toMatchObject([
      { number: 1, outcome: 'lease_expired', endedAt: clock.now(), failure: { category: 'lease_expired' } },
    ])
    expect(await given.eventsOf(held, 'lease_expired')).toMatchObject([
      { attempt: 1, epoch: 1, workerId: 'worker', workerInstanceId: 'worker-1' },
    ])
    expect((await given.claim()).executions).toMatchObject([
      { attemptKind: 'reclaim', failureCount: 0, fence: { attempt: 2, epoch: 2 } },
    ])
  })

  test('does not happen a millisecond earlier', async () => {
    const held = await given.activeExecution()
    clock.advance(LEASE_TTL_MS - 1)

    expect(await fabric.duePass()).toMatchObject({ handled: [], nextDueAt: clock.now() + 1 })
    expect((await fabric.look(held.executionId)).state.phase).toBe('active')
  })

  test('is reclaimed once, however many engines look', async () => {
    const held = await given.abandonedExecution()

    const passes = await Promise.all(Array.from({ length: 4 }, () => fabric.duePass()))

    expect(passes.flatMap((pass) => pass.handled)).toHaveLength(1)
    expect((await fabric.look(held.executionId)).reclaimCount).toBe(1)
  })

  test('is found behind hundreds of others that expired at the same moment', async () => {
    const submitted = await given.executions(120)
    for (let i = 0; i < 3; i++) await given.claim({ count: 50 })
    clock.advance(LEASE_TTL_MS)

    let pass = await fabric.duePass()
    for (let i = 0; i < 10 && pass.next !== undefined; i++) pass = await fabric.duePass({ from: pass.next })

    expect(await given.readyOrder()).toHaveLength(submitted.length)
  })

  test('too often, ends the execution as failed', async () => {
    const submitted = await given.eligibleExecution({ retry: fixedRetry(1_000, 0) })
    for (let i = 0; i < RECLAIM_CAP; i++) {
      await given.claimOf(submitted)
      clock.advance(LEASE_TTL_MS)
      await fabric.duePass()
    }
    expect(await fabric.look(submitted.executionId)).toMatchObject({
      state: { phase: 'eligible' },
      reclaimCount: RECLAIM_CAP,
    })
    await given.claimOf(submitted)
    clock.advance(LEASE_TTL_MS)

    expect((await fabric.duePass()).handled).toMatchObject([{ case: 'lease_expiry' }])
    expect(await fabric.look(submitted.executionId)).toMatchObject({
      state: { phase: 'ended', outcome: 'failed', reason: 'reclaims_exhausted' },
      failure: { category: 'lease_expired' },
      reclaimCount: RECLAIM_CAP,
    })
    expect(await fabric.attemptsOf(submitted.executionId)).toHaveLength(RECLAIM_CAP + 1)
    expect(await given.eventsOf(submitted, 'execution_ended')).toMatchObject([
      { outcome: 'failed', reason: 'reclaims_exhausted', attempt: RECLAIM_CAP + 1 },
    ])
  })

  test('the holder of the last permitted lease is refused because it expired', async () => {
    const submitted = await given.eligibleExecution()
    for (let i = 0; i < RECLAIM_CAP; i++) {
      await given.claimOf(submitted)
      clock.advance(LEASE_TTL_MS)
    }
    const last = await given.claimOf(submitted)
    clock.advance(LEASE_TTL_MS)
    await fabric.duePass()

    expect(await fabric.run('completeExecution', last)).toMatchObject({
      code: 'lease_expired',
      detail: { outcome: 'failed' },
    })
  })

  test('gives the new attempt its full timeout', async () => {
    const held = await given.activeExecution({ attemptTimeoutMs: 45_000 })
    clock.advance(LEASE_TTL_MS)
    const { executions } = await given.claim()

    expect(executions).toMatchObject([{ executionId: held.executionId, timeoutAt: clock.now() + 45_000 }])
  })

  test('a parked attempt whose next holder goes silent ends as lost', async () => {
    const held = await given.activeExecution()
    await fabric.run('releaseExecution', { ...held, reason: 'shutdown' })
    await given.claimOf(held, { workerInstanceId: 'worker-2' })
    clock.advance(LEASE_TTL_MS)
    await fabric.duePass()

    expect(await fabric.attemptsOf(held.executionId)).toMatchObject([
      { number: 1, epoch: 2, workerInstanceId: 'worker-2', outcome: 'lease_expired' },
    ])
  })

  test('history keeps the latest attempts, so that it stays bounded', async () => {
    const submitted = await given.eligibleExecution({ retry: fixedRetry(1_000, 0) })
    for (let i = 0; i < ATTEMPT_HISTORY_MAX + 10; i++) {
      const held = await given.claimOf(submitted)
      await fabric.run('failExecution', { ...held, ...transientFailure })
    }

    const numbers = (await fabric.attemptsOf(submitted.executionId)).map((attempt) => attempt.number)
    expect(numbers).toHaveLength(ATTEMPT_HISTORY_MAX)
    expect(numbers[0]).toBe(11)
    expect(numbers.at(-1)).toBe(ATTEMPT_HISTORY_MAX + 10)
  })
})
