import { expect, test } from 'vitest'
import { RECLAIM_CAP } from '../../src/kernel/index.ts'
import { LEASE_TTL_MS } from './given.ts'
import { conforms } from './harness.ts'

const stuck = { reason: 'stuck', by: 'operator' }

conforms('revokeLease', ({ fabric, given, clock }) => {
  test('takes the lease away and offers the execution to other workers at once', async () => {
    const held = await given.activeExecution()
    clock.advance(10)

    const result = await fabric.run('revokeLease', { executionId: held.executionId, ...stuck })

    expect(result).toEqual({ kind: 'revoked', leaseId: held.fence.leaseId, ended: undefined })
    expect(await fabric.look(held.executionId)).toMatchObject({
      state: { phase: 'eligible' },
      next: 'reclaim',
      reclaimCount: 1,
    })
    expect(await fabric.attemptsOf(held.executionId)).toMatchObject([
      { number: 1, outcome: 'lease_revoked', endedAt: clock.now(), failure: { message: 'stuck' } },
    ])
    expect(await given.eventsOf(held, 'lease_revoked')).toMatchObject([
      { attempt: 1, epoch: 1, workerInstanceId: 'worker-1', reason: 'stuck', by: 'operator' },
    ])
    expect((await given.claim()).executions).toMatchObject([
      { attemptKind: 'reclaim', fence: { attempt: 2, epoch: 2 } },
    ])
  })

  test('the old holder is refused because it was revoked, and changes nothing', async () => {
    const held = await given.activeExecution()
    await fabric.run('revokeLease', { executionId: held.executionId, ...stuck })
    const before = await fabric.dump()

    expect(await fabric.run('renewLease', { ...held, leaseTtlMs: LEASE_TTL_MS })).toMatchObject({
      code: 'lease_revoked',
    })
    expect(await fabric.run('completeExecution', held)).toMatchObject({ code: 'lease_revoked' })
    expect(await fabric.dump()).toEqual(before)
  })

  test('repeated, takes one lease away', async () => {
    const { executionId, fence } = await given.activeExecution()
    await fabric.run('revokeLease', { executionId, ...stuck })
    const before = await fabric.dump()

    expect(await fabric.run('revokeLease', { executionId, ...stuck })).toEqual({ kind: 'already_revoked' })
    expect(await fabric.run('revokeLease', { executionId, leaseId: fence.leaseId, ...stuck })).toEqual({
      kind: 'already_revoked',
    })
    expect(await fabric.dump()).toEqual(before)
  })

  test('of another lease than the one that was revoked last, finds none', async () => {
    const { executionId } = await given.activeExecution()
    await fabric.run('revokeLease', { executionId, ...stuck })

    expect(await fabric.run('revokeLease', { executionId, leaseId: 'another lease', ...stuck })).toMatchObject({
      code: 'no_active_lease',
    })
  })

  test('of one named lease leaves any other alone', async () => {
    const old = await given.activeExecution()
    const { executionId } = old
    await fabric.run('revokeLease', { executionId, leaseId: old.fence.leaseId, ...stuck })
    const current = await given.claimOf(old)

    expect(await fabric.run('revokeLease', { executionId, leaseId: old.fence.leaseId, ...stuck })).toMatchObject({
      kind: 'refused',
      code: 'stale_lease',
    })
    expect(await fabric.run('completeExecution', current)).toMatchObject({ kind: 'completed' })
  })

  test.each(['eligible', 'delayed', 'ended'] as const)('of a %s execution finds no lease', async (phase) => {
    const { executionId } = await given.inPhase(phase)
    const before = await fabric.dump()

    expect(await fabric.run('revokeLease', { executionId, ...stuck })).toMatchObject({ code: 'no_active_lease' })
    expect(await fabric.dump()).toEqual(before)
  })

  test('of a lease that has expired unnoticed, puts the execution back once', async () => {
    const { executionId } = await given.abandonedExecution()

    expect(await fabric.run('revokeLease', { executionId, ...stuck })).toMatchObject({ kind: 'revoked' })
    expect((await fabric.duePass()).handled).toEqual([])
    expect((await fabric.look(executionId)).reclaimCount).toBe(1)
  })

  test('too often, ends the execution as failed', async () => {
    const submitted = await given.eligibleExecution()
    const outcomes: unknown[] = []
    for (let i = 0; i <= RECLAIM_CAP; i++) {
      await given.claimOf(submitted)
      const result = await fabric.run('revokeLease', { ...submitted, ...stuck })
      outcomes.push(result.kind === 'revoked' ? result.ended : result)
    }

    expect(outcomes).toEqual([...Array.from({ length: RECLAIM_CAP }, () => undefined), 'failed'])
    expect(await fabric.look(submitted.executionId)).toMatchObject({
      state: { outcome: 'failed', reason: 'reclaims_exhausted', by: 'operator' },
      reclaimCount: RECLAIM_CAP,
    })
  })

  test('a revoked, cancelled and replayed execution runs as any other', async () => {
    const held = await given.activeExecution()
    const { executionId } = held
    await fabric.run('revokeLease', { executionId, ...stuck })
    await fabric.run('cancelExecution', { executionId, reason: 'no', by: 'operator', force: true, graceMs: 0 })
    await fabric.run('replayExecution', { executionId, requestId: given.requestId() })
    const current = await given.claimOf(held)

    expect(await fabric.run('renewLease', { ...current, leaseTtlMs: LEASE_TTL_MS })).toMatchObject({ kind: 'renewed' })
    expect(await fabric.run('completeExecution', current)).toMatchObject({ kind: 'completed' })
  })
})
