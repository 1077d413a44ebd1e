import { expect, test } from 'vitest'
import { LEASE_TTL_MS, politeCancel } from './given.ts'
import { conforms } from './harness.ts'

conforms('delayExecution', ({ fabric, given, clock }) => {
  test('parks the execution; it cannot be claimed before the time', async () => {
    const held = await given.activeExecution()

    const result = await fabric.run('delayExecution', { ...held, delayMs: 5_000 })

    expect(result).toEqual({ kind: 'delayed', until: clock.now() + 5_000 })
    expect(await fabric.look(held.executionId)).toMatchObject({
      state: { phase: 'delayed', until: clock.now() + 5_000, cause: 'worker' },
      next: 'continue',
    })
    clock.advance(4_999)
    expect((await given.claim()).executions).toEqual([])
    clock.advance(1)
    expect((await given.claim()).executions).toHaveLength(1)
  })

  test('the same attempt continues afterwards, under a new lease', async () => {
    const held = await given.activeExecution()
    await fabric.run('delayExecution', { ...held, delayMs: 5_000 })
    clock.advance(5_000)
    await fabric.duePass()

    const { executions } = await given.claim({ workerInstanceId: 'worker-2' })

    expect(executions).toMatchObject([{ attemptKind: 'initial', fence: { attempt: 1, epoch: 2 } }])
    expect(await fabric.attemptsOf(held.executionId)).toEqual([])
  })

  test.each([0, -5_000])('a delay of %d ms hands the execution back at once', async (delayMs) => {
    const held = await given.activeExecution()

    expect(await fabric.run('delayExecution', { ...held, delayMs })).toEqual({ kind: 'delayed', until: clock.now() })
    expect((await fabric.look(held.executionId)).state).toEqual({ phase: 'eligible' })
  })

  test('is idempotent per fence: answers with the first time', async () => {
    const held = await given.activeExecution()
    const first = await fabric.run('delayExecution', { ...held, delayMs: 5_000 })
    const before = await fabric.dump()
    clock.advance(1_000)

    const again = await fabric.run('delayExecution', { ...held, delayMs: 9_000 })

    expect(again).toEqual({ ...first, kind: 'already_delayed' })
    expect(await fabric.dump()).toEqual(before)
  })

  test('repeated after another claim, is stale', async () => {
    const held = await given.activeExecution()
    await fabric.run('delayExecution', { ...held, delayMs: 0 })
    await given.claimOf(held)

    expect(await fabric.run('delayExecution', { ...held, delayMs: 0 })).toMatchObject({ code: 'stale_lease' })
  })

  test('returns until when it is parked', async () => {
    const held = await given.activeExecution()
    await fabric.run('delayExecution', { ...held, delayMs: 5_000 })

    expect(await given.eventsOf(held, 'execution_delayed')).toMatchObject([
      { attempt: 1, epoch: 1, until: clock.now() + 5_000 },
    ])
  })

  test('while a cancel is requested, ends the execution as cancelled', async () => {
    const held = await given.activeExecution()
    await fabric.run('cancelExecution', { executionId: held.executionId, ...politeCancel })

    const first = await fabric.run('delayExecution', { ...held, delayMs: 5_000 })
    const again = await fabric.run('delayExecution', { ...held, delayMs: 5_000 })

    expect([first.kind, again.kind]).toEqual(['cancelled', 'already_cancelled'])
  })

  test('a parked execution can be cancelled, and its attempt is closed', async () => {
    const held = await given.activeExecution()
    await fabric.run('delayExecution', { ...held, delayMs: 5_000 })

    await fabric.run('cancelExecution', { executionId: held.executionId, ...politeCancel })

    expect((await fabric.look(held.executionId)).state).toMatchObject({ phase: 'ended', outcome: 'cancelled' })
    expect(await fabric.attemptsOf(held.executionId)).toMatchObject([{ number: 1, outcome: 'cancelled' }])
  })

  test('is refused after expiry', async () => {
    const held = await given.activeExecution()
    clock.advance(LEASE_TTL_MS)

    expect(await fabric.run('delayExecution', { ...held, delayMs: 1 })).toMatchObject({ code: 'lease_expired' })
  })
})
