import { expect, test } from 'vitest'
import { GRACE_MS, LEASE_TTL_MS, fixedRetry, politeCancel, transientFailure } from './given.ts'
import { conforms } from './harness.ts'

const ttl = { leaseTtlMs: LEASE_TTL_MS }

conforms('renewLease', ({ fabric, given, clock }) => {
  test('extends the lease from now', async () => {
    const held = await given.activeExecution()
    clock.advance(10_000)

    const result = await fabric.run('renewLease', { ...held, ...ttl })

    expect(result).toEqual({
      kind: 'renewed',
      expiresAt: clock.now() + LEASE_TTL_MS,
      at: clock.now(),
      cancel: undefined,
    })
    clock.advance(LEASE_TTL_MS - 1)
    await fabric.duePass()
    expect((await fabric.look(held.executionId)).state.phase).toBe('active')
  })

  test('may shorten it, too', async () => {
    const held = await given.activeExecution()

    await fabric.run('renewLease', { ...held, leaseTtlMs: 1_000 })

    clock.advance(1_000)
    expect((await fabric.duePass()).handled).toMatchObject([{ case: 'lease_expiry' }])
  })

  test('keeps fence, attempt and acquisition, and leaves no event', async () => {
    const held = await given.activeExecution()
    const before = await fabric.look(held.executionId)
    clock.advance(10_000)

    await fabric.run('renewLease', { ...held, ...ttl })
    await fabric.run('renewLease', { ...held, ...ttl })

    const { state, ...rest } = await fabric.look(held.executionId)
    const { state: stateBefore, ...restBefore } = before
    expect(rest).toEqual(restBefore)
    expect(state).toEqual({
      ...stateBefore,
      lease: { ...(stateBefore.phase === 'active' ? stateBefore.lease : {}), expiresAt: clock.now() + LEASE_TTL_MS },
    })
    expect(await given.eventTypesOf(held)).toEqual(['execution_created', 'attempt_started'])
  })

  test('keeps a lease alive for as long as it is repeated', async () => {
    const held = await given.activeExecution()
    for (let i = 0; i < 20; i++) {
      clock.advance(LEASE_TTL_MS - 1)
      expect(await fabric.run('renewLease', { ...held, ...ttl })).toMatchObject({ kind: 'renewed' })
      expect((await fabric.duePass()).handled).toEqual([])
    }

    expect(await fabric.run('completeExecution', held)).toMatchObject({ kind: 'completed' })
  })

  test('carries a cancel request to the holder', async () => {
    const held = await given.activeExecution()
    await fabric.run('cancelExecution', { executionId: held.executionId, ...politeCancel })

    expect(await fabric.run('renewLease', { ...held, ...ttl })).toMatchObject({
      kind: 'renewed',
      cancel: { reason: 'not needed', by: 'operator', forceAt: clock.now() + GRACE_MS },
    })
  })

  test('does not put off the end of the grace', async () => {
    const held = await given.activeExecution()
    await fabric.run('cancelExecution', { executionId: held.executionId, ...politeCancel })
    clock.advance(GRACE_MS - 1)
    await fabric.run('renewLease', { ...held, ...ttl })
    clock.advance(1)

    expect((await fabric.duePass()).handled).toMatchObject([{ case: 'cancel_grace' }])
  })

  test('does not put off the attempt timeout or the deadline', async () => {
    const held = await given.activeExecution({ attemptTimeoutMs: 40_000, totalTimeoutMs: 50_000 })
    clock.advance(20_000)
    await fabric.run('renewLease', { ...held, ...ttl })

    expect(await fabric.look(held.executionId)).toMatchObject({
      state: { timeoutAt: clock.now() + 20_000 },
      deadlineAt: clock.now() + 30_000,
    })
  })

  test('lets the time of a handler that begins only now start over', async () => {
    const held = await given.activeExecution({ attemptTimeoutMs: 40_000, totalTimeoutMs: 50_000 })
    clock.advance(20_000)
    await fabric.run('renewLease', { ...held, ...ttl, beginsNow: true })

    expect(await fabric.look(held.executionId)).toMatchObject({
      state: { timeoutAt: clock.now() + 40_000, runningSince: clock.now() },
      deadlineAt: clock.now() + 30_000,
    })
  })

  test('is refused at the instant of expiry, even without another claim, and cannot bring the lease back', async () => {
    const held = await given.activeExecution()
    clock.advance(LEASE_TTL_MS)
    const before = await fabric.dump()

    expect(await fabric.run('renewLease', { ...held, ...ttl })).toMatchObject({
      kind: 'refused',
      code: 'lease_expired',
      detail: { state: 'active', epoch: 1, attempt: 1 },
    })
    expect(await fabric.dump()).toEqual(before)
  })

  test('is refused as expired once the due pass has put the execution back', async () => {
    const held = await given.abandonedExecution()
    await fabric.duePass()

    expect(await fabric.run('renewLease', { ...held, ...ttl })).toMatchObject({
      kind: 'refused',
      code: 'lease_expired',
      detail: { state: 'waiting' },
    })
  })

  test('is refused as stale after another claim', async () => {
    const held = await given.abandonedExecution()
    await given.claimOf(held, { workerInstanceId: 'worker-2' })
    const before = await fabric.dump()

    expect(await fabric.run('renewLease', { ...held, ...ttl })).toMatchObject({ kind: 'refused', code: 'stale_lease' })
    expect(await fabric.dump()).toEqual(before)
  })

  test('is refused once the holder itself has released', async () => {
    const held = await given.activeExecution({ retry: fixedRetry(2, 1_000) })
    await fabric.run('failExecution', { ...held, ...transientFailure })

    expect(await fabric.run('renewLease', { ...held, ...ttl })).toMatchObject({
      kind: 'refused',
      code: 'execution_not_active',
      detail: { state: 'delayed', phase: 'delayed' },
    })
  })

  test('is refused once the execution has ended, with its outcome', async () => {
    const held = await given.endedExecution('completed')

    expect(await fabric.run('renewLease', { ...held, ...ttl })).toMatchObject({
      kind: 'refused',
      code: 'execution_not_active',
      detail: { phase: 'ended', outcome: 'completed' },
    })
  })

  test.each([{ leaseId: 'another' }, { epoch: 2 }, { attempt: 2 }])(
    'is refused as stale if one part of the fence differs: %o',
    async (change) => {
      const held = await given.activeExecution()
      const fence = { ...held.fence, ...change }

      expect(await fabric.run('renewLease', { executionId: held.executionId, fence, ...ttl })).toMatchObject({
        kind: 'refused',
        code: 'stale_lease',
      })
    },
  )
})
