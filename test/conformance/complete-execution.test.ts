import { expect, test } from 'vitest'
import { RESULT_BYTES } from '../../src/kernel/index.ts'
import { LEASE_TTL_MS, RETENTION_MS, fixedRetry, forcedCancel, politeCancel, transientFailure } from './given.ts'
import { conforms } from './harness.ts'

const done = new TextEncoder().encode('"done"')
const result = { blob: 0, size: done.byteLength, encoding: 'json' } as const

conforms('completeExecution', ({ fabric, given, clock }) => {
  test('ends the execution and keeps its result', async () => {
    const held = await given.activeExecution({ attemptTimeoutMs: 60_000, totalTimeoutMs: 90_000 })
    clock.advance(100)

    expect(await fabric.run('completeExecution', { ...held, result }, [done])).toEqual({
      kind: 'completed',
      next: undefined,
    })

    expect(await fabric.look(held.executionId)).toMatchObject({
      state: { phase: 'ended', outcome: 'completed', at: clock.now() },
      result: { size: done.byteLength, encoding: 'json' },
      changedAt: clock.now(),
    })
    const { blobs } = await fabric.reply('describeExecution', { executionId: held.executionId, result: true })
    expect(blobs).toEqual([done])
    expect(await given.purgeAt(held)).toBe(clock.now() + RETENTION_MS)
    expect((await fabric.duePass()).nextDueAt).toBeUndefined()
  })

  test('without a result keeps none', async () => {
    const held = await given.endedExecution('completed')

    expect((await fabric.look(held.executionId)).result).toBeUndefined()
    const { result: described, blobs } = await fabric.reply('describeExecution', {
      executionId: held.executionId,
      result: true,
    })
    expect(described).toMatchObject({ kind: 'described' })
    expect(described).not.toHaveProperty('resultBlob', expect.anything())
    expect(blobs).toEqual([])
  })

  test('takes a result of the largest size', async () => {
    const held = await given.activeExecution()
    const large = new Uint8Array(RESULT_BYTES).fill(7)

    await fabric.run('completeExecution', { ...held, result: { ...result, size: RESULT_BYTES } }, [large])

    const { blobs } = await fabric.reply('describeExecution', { executionId: held.executionId, result: true })
    expect(blobs[0]!.byteLength).toBe(RESULT_BYTES)
    expect(Buffer.compare(blobs[0]!, large)).toBe(0)
  })

  test('emits one event for the end', async () => {
    const held = await given.endedExecution('completed')

    expect(await given.eventsOf(held, 'execution_ended')).toEqual([
      expect.objectContaining({
        outcome: 'completed',
        attempt: 1,
        epoch: 1,
        workerId: 'worker',
        workerInstanceId: 'worker-1',
      }),
    ])
  })

  test('is idempotent per fence', async () => {
    const held = await given.activeExecution()

    const first = await fabric.run('completeExecution', { ...held, result }, [done])
    const before = await fabric.dump()
    clock.advance(1_000)
    const again = await fabric.run('completeExecution', { ...held, result }, [new TextEncoder().encode('"else"')])

    expect([first.kind, again.kind]).toEqual(['completed', 'already_completed'])
    expect(await fabric.dump()).toEqual(before)
    const { blobs } = await fabric.reply('describeExecution', { executionId: held.executionId, result: true })
    expect(blobs).toEqual([done])
  })

  test('may claim the next executions in the same step', async () => {
    const held = await given.activeExecution()
    const waiting = await given.executions(3, (i) => ({ bytes: new Uint8Array([i]) }))
    const next = given.claimInput({ count: 2 })

    const reply = await fabric.reply('completeExecution', { ...held, next })

    expect(reply.result).toMatchObject({
      kind: 'completed',
      next: {
        kind: 'claimed',
        more: true,
        executions: waiting
          .slice(0, 2)
          .map((one) => ({ executionId: one.executionId, fence: { leaseId: next.requestId } })),
      },
    })
    expect(reply.blobs.map((blob) => [...blob])).toEqual([[0], [1]])
  })

  test('does not claim the execution that it ends', async () => {
    const held = await given.activeExecution()

    const answer = await fabric.run('completeExecution', { ...held, next: given.claimInput({ count: 5 }) })

    expect(answer).toMatchObject({ kind: 'completed', next: { executions: [], more: false } })
  })

  test('when refused, claims nothing', async () => {
    const held = await given.abandonedExecution()
    await given.eligibleExecution({ lane: 'other' })
    const before = await fabric.dump()

    const next = given.claimInput({ queues: [{ lane: 'other', class: 'greet' }] })
    expect(await fabric.run('completeExecution', { ...held, next })).toMatchObject({ code: 'lease_expired' })
    expect(await fabric.dump()).toEqual(before)
  })

  test('is refused at the instant of expiry, even if no other worker has claimed', async () => {
    const held = await given.activeExecution()
    clock.advance(LEASE_TTL_MS)
    const before = await fabric.dump()

    expect(await fabric.run('completeExecution', { ...held, result }, [done])).toMatchObject({
      kind: 'refused',
      code: 'lease_expired',
    })
    expect(await fabric.dump()).toEqual(before)
  })

  test('is accepted a millisecond before expiry', async () => {
    const held = await given.activeExecution()
    clock.advance(LEASE_TTL_MS - 1)

    expect(await fabric.run('completeExecution', held)).toMatchObject({ kind: 'completed' })
  })

  test('is refused as stale after another claim, whose holder is not affected', async () => {
    const old = await given.abandonedExecution()
    const current = await given.claimOf(old, { workerInstanceId: 'worker-2' })

    expect(await fabric.run('completeExecution', { ...old, result }, [done])).toMatchObject({ code: 'stale_lease' })
    expect(await fabric.run('completeExecution', current)).toMatchObject({ kind: 'completed' })
    expect((await fabric.look(old.executionId)).result).toBeUndefined()
  })

  test('is refused after a revocation', async () => {
    const held = await given.activeExecution()
    await fabric.run('revokeLease', { executionId: held.executionId, reason: 'stuck', by: 'operator' })

    expect(await fabric.run('completeExecution', held)).toMatchObject({ kind: 'refused', code: 'lease_revoked' })
  })

  test.each(['failed', 'cancelled', 'expired'] as const)(
    'is refused with the real outcome once it %s',
    async (outcome) => {
      const held = await given.endedExecution(outcome)
      const before = await fabric.dump()

      expect(await fabric.run('completeExecution', held)).toMatchObject({
        kind: 'refused',
        code: 'execution_not_active',
        detail: { phase: 'ended', outcome },
      })
      expect(await fabric.dump()).toEqual(before)
    },
  )

  test('wins over a cancel request within its grace', async () => {
    const held = await given.activeExecution()
    await fabric.run('cancelExecution', { executionId: held.executionId, ...politeCancel })

    expect(await fabric.run('completeExecution', held)).toMatchObject({ kind: 'completed' })
    expect((await fabric.look(held.executionId)).state).toMatchObject({ outcome: 'completed' })
  })

  test('forgets the failure of an earlier attempt, which history keeps', async () => {
    const first = await given.activeExecution({ retry: fixedRetry(2, 0) })
    await fabric.run('failExecution', { ...first, ...transientFailure })
    const second = await given.claimOf(first)
    await fabric.run('completeExecution', second)

    const { failure, failureCount } = await fabric.look(first.executionId)
    expect([failure, failureCount]).toEqual([undefined, 1])
    const attempts = await fabric.attemptsOf(first.executionId)
    expect(attempts).toMatchObject([
      { number: 1, outcome: 'failed', failure: { message: 'no connection' } },
      { number: 2, kind: 'retry', outcome: 'completed' },
    ])
    expect(attempts[1]!.failure).toBeUndefined()
  })

  test('of a replayed execution, the fence of the earlier run is not enough', async () => {
    const held = await given.endedExecution('completed')
    await fabric.run('replayExecution', { executionId: held.executionId, requestId: given.requestId() })

    expect(await fabric.run('completeExecution', held)).toMatchObject({ code: 'execution_not_active' })
    await given.claimOf(held)
    expect(await fabric.run('completeExecution', held)).toMatchObject({ code: 'stale_lease' })
  })

  test('after a forced cancel is refused because the execution was cancelled', async () => {
    const held = await given.activeExecution()
    await fabric.run('cancelExecution', { executionId: held.executionId, ...forcedCancel })

    expect(await fabric.run('completeExecution', held)).toMatchObject({ detail: { state: 'cancelled' } })
  })
})
