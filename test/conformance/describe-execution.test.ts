import { expect, test } from 'vitest'
import { LEASE_TTL_MS, fixedRetry, reachablePhases, transientFailure } from './given.ts'
import { conforms } from './harness.ts'

const bytes = new Uint8Array([1, 2, 3])

conforms('describeExecution', ({ fabric, given, clock }) => {
  test.each(reachablePhases)('returns the public state of a %s execution and writes nothing', async (phase) => {
    const { executionId } = await given.inPhase(phase)
    const before = await fabric.dump()

    const result = await fabric.run('describeExecution', { executionId, attempts: true, payload: true, result: true })

    const state = { eligible: 'waiting', delayed: 'delayed', active: 'active', ended: 'completed' }[phase]
    expect(result).toMatchObject({
      kind: 'described',
      state,
      execution: { id: executionId, state: { phase } },
      at: clock.now(),
    })
    expect(await fabric.dump()).toEqual(before)
  })

  test('sends payload and result only when asked for', async () => {
    const held = await given.activeExecution({ bytes })
    const { executionId } = held
    await fabric.run('completeExecution', { ...held, result: { blob: 0, size: 2, encoding: 'json' } }, [
      new TextEncoder().encode('{}'),
    ])

    expect((await fabric.reply('describeExecution', { executionId })).blobs).toEqual([])
    const both = await fabric.reply('describeExecution', { executionId, payload: true, result: true })
    expect(both.result).toMatchObject({ payloadBlob: 0, resultBlob: 1 })
    expect(both.blobs).toEqual([bytes, new TextEncoder().encode('{}')])
  })

  test('returns every attempt that ended, oldest first, the completed one included', async () => {
    const submitted = await given.eligibleExecution({ retry: fixedRetry(3, 0) })
    await fabric.run('failExecution', { ...(await given.claimOf(submitted)), ...transientFailure })
    await given.claimOf(submitted)
    clock.advance(LEASE_TTL_MS)
    const last = await given.claimOf(submitted)
    expect((await fabric.attemptsOf(submitted.executionId)).map((attempt) => attempt.outcome)).toEqual([
      'failed',
      'lease_expired',
    ])
    clock.advance(20)
    await fabric.run('completeExecution', last)

    expect(await fabric.attemptsOf(submitted.executionId)).toMatchObject([
      { number: 1, kind: 'initial', outcome: 'failed' },
      { number: 2, kind: 'retry', outcome: 'lease_expired' },
      { number: 3, kind: 'reclaim', outcome: 'completed', endedAt: clock.now(), startedAt: clock.now() - 20, epoch: 3 },
    ])
  })

  test('shows who holds a running execution', async () => {
    const held = await given.activeExecution({}, { workerId: 'pool', workerInstanceId: 'pool-7' })

    expect((await fabric.look(held.executionId)).state).toEqual({
      phase: 'active',
      lease: {
        id: held.fence.leaseId,
        workerId: 'pool',
        workerInstanceId: 'pool-7',
        acquiredAt: clock.now(),
        expiresAt: clock.now() + LEASE_TTL_MS,
      },
      timeoutAt: undefined,
      cancel: undefined,
      runningSince: clock.now(),
    })
  })
})
