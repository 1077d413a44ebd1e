import { expect, test } from 'vitest'
import { LEASE_TTL_MS, fixedRetry, politeCancel, transientFailure } from './given.ts'
import { conforms } from './harness.ts'

conforms('updateProgress', ({ fabric, given, clock }) => {
  test('keeps the progress and the time of the report', async () => {
    const held = await given.activeExecution()
    clock.advance(10)

    expect(await fabric.run('updateProgress', { ...held, percent: 40, message: 'reading' })).toEqual({
      kind: 'updated',
    })

    expect((await fabric.look(held.executionId)).progress).toEqual({
      percent: 40,
      message: 'reading',
      at: clock.now(),
    })
    expect(await given.eventsOf(held, 'progress_updated')).toMatchObject([
      { attempt: 1, percent: 40, reason: 'reading' },
    ])
  })

  test('what it leaves out keeps its last value', async () => {
    const held = await given.activeExecution()
    await fabric.run('updateProgress', { ...held, percent: 40 })
    await fabric.run('updateProgress', { ...held, message: 'writing' })
    expect((await fabric.look(held.executionId)).progress).toMatchObject({ percent: 40, message: 'writing' })

    await fabric.run('updateProgress', { ...held, percent: 0 })
    await fabric.run('updateProgress', { ...held, message: '' })
    expect((await fabric.look(held.executionId)).progress).toMatchObject({ percent: 0, message: '' })
  })

  test('reported before any value is known, leaves the other absent', async () => {
    const held = await given.activeExecution()
    await fabric.run('updateProgress', { ...held, message: 'starting' })

    expect((await fabric.look(held.executionId)).progress).toEqual({
      percent: undefined,
      message: 'starting',
      at: clock.now(),
    })
  })

  test('takes a message in any language', async () => {
    const held = await given.activeExecution()
    const message = 'リーディング 😀 "quoted" \u0000 end'
    await fabric.run('updateProgress', { ...held, message })

    expect((await fabric.look(held.executionId)).progress?.message).toBe(message)
  })

  test('does not extend the lease', async () => {
    const held = await given.activeExecution()
    clock.advance(LEASE_TTL_MS - 1)
    await fabric.run('updateProgress', { ...held, percent: 99 })
    clock.advance(1)

    expect((await fabric.duePass()).handled).toMatchObject([{ case: 'lease_expiry' }])
  })

  test('outlives the attempt that reported it', async () => {
    const held = await given.activeExecution({ retry: fixedRetry(2, 0) })
    await fabric.run('updateProgress', { ...held, percent: 40 })
    await fabric.run('failExecution', { ...held, ...transientFailure })
    await given.claimOf(held)

    expect((await fabric.look(held.executionId)).progress).toMatchObject({ percent: 40 })
  })

  test('keeps a cancel request', async () => {
    const held = await given.activeExecution()
    await fabric.run('cancelExecution', { executionId: held.executionId, ...politeCancel })
    await fabric.run('updateProgress', { ...held, percent: 40 })

    expect((await fabric.look(held.executionId)).state).toMatchObject({ cancel: { by: 'operator' } })
  })

  test('is refused after expiry and changes nothing', async () => {
    const held = await given.abandonedExecution()
    const before = await fabric.dump()

    expect(await fabric.run('updateProgress', { ...held, percent: 40 })).toMatchObject({ code: 'lease_expired' })
    expect(await fabric.dump()).toEqual(before)
  })

  test('is refused once the execution has ended', async () => {
    const held = await given.endedExecution('completed')

    expect(await fabric.run('updateProgress', { ...held, percent: 40 })).toMatchObject({ code: 'execution_not_active' })
  })
})
