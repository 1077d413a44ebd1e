import { expect, test } from 'vitest'
import { LEASE_TTL_MS, politeCancel } from './given.ts'
import { conforms } from './harness.ts'

const shutdown = { reason: 'shutdown' }

conforms('releaseExecution', ({ fabric, given, clock }) => {
  test('hands the execution back at once, without burning an attempt', async () => {
    const held = await given.activeExecution()
    clock.advance(100)

    expect(await fabric.run('releaseExecution', { ...held, ...shutdown })).toEqual({ kind: 'released' })

    expect(await fabric.look(held.executionId)).toMatchObject({
      state: { phase: 'eligible' },
      next: 'continue',
      failureCount: 0,
      reclaimCount: 0,
      changedAt: clock.now(),
      attempt: { number: 1 },
    })
    expect(await fabric.attemptsOf(held.executionId)).toEqual([])
  })

  test('the next holder continues the same attempt under a new lease', async () => {
    const held = await given.activeExecution()
    const startedAt = clock.now()
    clock.advance(100)
    await fabric.run('releaseExecution', { ...held, ...shutdown })

    const { executions } = await given.claim({ workerInstanceId: 'worker-2' })

    expect(executions).toMatchObject([{ attemptKind: 'initial', fence: { attempt: 1, epoch: 2 } }])
    expect((await fabric.look(held.executionId)).attempt).toMatchObject({
      number: 1,
      startedAt,
      usedMs: 100,
      workerInstanceId: 'worker-2',
    })
  })

  test('can be done any number of times', async () => {
    const submitted = await given.eligibleExecution()
    for (let i = 0; i < 30; i++) {
      const held = await given.claimOf(submitted)
      await fabric.run('releaseExecution', { ...held, ...shutdown })
    }

    expect(await fabric.look(submitted.executionId)).toMatchObject({ epoch: 30, attempt: { number: 1 } })
  })

  test('is idempotent per fence: hands back once', async () => {
    const held = await given.activeExecution()
    await fabric.run('releaseExecution', { ...held, ...shutdown })
    const before = await fabric.dump()

    expect(await fabric.run('releaseExecution', { ...held, ...shutdown })).toEqual({ kind: 'already_released' })
    expect(await fabric.dump()).toEqual(before)
  })

  test('repeated after another claim, is stale and takes nothing away', async () => {
    const held = await given.activeExecution()
    await fabric.run('releaseExecution', { ...held, ...shutdown })
    await given.claimOf(held)
    const before = await fabric.dump()

    expect(await fabric.run('releaseExecution', { ...held, ...shutdown })).toMatchObject({ code: 'stale_lease' })
    expect(await fabric.dump()).toEqual(before)
  })

  test('records who handed back and why', async () => {
    const held = await given.activeExecution()
    await fabric.run('releaseExecution', { ...held, ...shutdown })

    expect(await given.eventsOf(held, 'execution_released')).toMatchObject([
      { attempt: 1, epoch: 1, workerInstanceId: 'worker-1', reason: 'shutdown' },
    ])
  })

  test('while a cancel is requested, ends the execution as cancelled', async () => {
    const held = await given.activeExecution()
    await fabric.run('cancelExecution', { executionId: held.executionId, ...politeCancel })

    const first = await fabric.run('releaseExecution', { ...held, ...shutdown })
    const again = await fabric.run('releaseExecution', { ...held, ...shutdown })

    expect([first.kind, again.kind]).toEqual(['cancelled', 'already_cancelled'])
    expect((await fabric.look(held.executionId)).state).toMatchObject({ outcome: 'cancelled', by: 'operator' })
  })

  test('is refused after expiry', async () => {
    const held = await given.activeExecution()
    clock.advance(LEASE_TTL_MS)

    expect(await fabric.run('releaseExecution', { ...held, ...shutdown })).toMatchObject({ code: 'lease_expired' })
  })

  test('leaves the deadline armed', async () => {
    const held = await given.activeExecution({ totalTimeoutMs: 5_000 })
    await fabric.run('releaseExecution', { ...held, ...shutdown })
    clock.advance(5_000)
    await fabric.duePass()

    expect((await fabric.look(held.executionId)).state).toMatchObject({ outcome: 'expired' })
    expect(await fabric.attemptsOf(held.executionId)).toMatchObject([{ number: 1, outcome: 'expired' }])
  })
})
