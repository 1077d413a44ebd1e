import { expect, test } from 'vitest'
import { REPLAY_CAP } from '../../src/kernel/index.ts'
import { LEASE_TTL_MS, fixedRetry, forcedCancel, permanentFailure, transientFailure } from './given.ts'
import { conforms } from './harness.ts'

const bytes = new TextEncoder().encode('{}')
const result = { blob: 0, size: bytes.byteLength, encoding: 'json' } as const

conforms('replayExecution', ({ fabric, given, clock }) => {
  const replay = (executionId: Parameters<typeof fabric.look>[0], requestId = given.requestId()) =>
    fabric.run('replayExecution', { executionId, requestId, reason: 'try again', by: 'operator' })

  test.each(['completed', 'failed', 'cancelled', 'expired'] as const)(
    'makes a %s execution runnable again',
    async (outcome) => {
      const { executionId } = await given.endedExecution(outcome)
      clock.advance(10)

      expect(await replay(executionId)).toEqual({ kind: 'replayed', replayCount: 1 })

      const execution = await fabric.look(executionId)
      expect(execution).toMatchObject({
        state: { phase: 'eligible' },
        next: 'replay',
        replayCount: 1,
        failureCount: 0,
        reclaimCount: 0,
        changedAt: clock.now(),
        lastReplay: { reason: 'try again', by: 'operator', at: clock.now() },
      })
      expect(execution.failure).toBeUndefined()
      expect(await given.purgeAt({ executionId })).toBeUndefined()
      expect(await given.eventsOf({ executionId }, 'execution_replayed')).toMatchObject([
        { reason: 'try again', by: 'operator' },
      ])
    },
  )

  test('numbering, epoch and history continue', async () => {
    const held = await given.endedExecution('completed')
    await replay(held.executionId)
    const { executions } = await given.claim()

    expect(executions).toMatchObject([{ attemptKind: 'replay', fence: { attempt: 2, epoch: 2 } }])
    await fabric.run('failExecution', {
      executionId: held.executionId,
      fence: executions[0]!.fence,
      ...permanentFailure,
    })
    expect(await fabric.attemptsOf(held.executionId)).toMatchObject([
      { number: 1, kind: 'initial', outcome: 'completed', epoch: 1 },
      { number: 2, kind: 'replay', outcome: 'failed', epoch: 2 },
    ])
  })

  test('the result and the progress of the earlier run are gone, its payload stays', async () => {
    const held = await given.activeExecution({ bytes })
    await fabric.run('updateProgress', { ...held, percent: 100 })
    await fabric.run('completeExecution', { ...held, result }, [bytes])
    await replay(held.executionId)

    const execution = await fabric.look(held.executionId)
    expect([execution.result, execution.progress]).toEqual([undefined, undefined])
    const reply = await fabric.reply('describeExecution', {
      executionId: held.executionId,
      payload: true,
      result: true,
    })
    expect(reply.result).toMatchObject({ payloadBlob: 0 })
    expect(reply.result).not.toHaveProperty('resultBlob', expect.anything())
    expect(reply.blobs).toEqual([bytes])
  })

  test('the attempts of the policy start over', async () => {
    const submitted = await given.eligibleExecution({ retry: fixedRetry(2, 0) })
    const kinds: string[] = []
    for (let i = 0; i < 4; i++) {
      const held = await given.claimOf(submitted)
      const answer = await fabric.run('failExecution', { ...held, ...transientFailure })
      kinds.push(answer.kind)
      if (answer.kind === 'failed') await replay(submitted.executionId)
    }

    expect(kinds).toEqual(['retry_scheduled', 'failed', 'retry_scheduled', 'failed'])
  })

  test('the total deadline is armed anew from the replay', async () => {
    const { executionId } = await given.endedExecution('expired', { totalTimeoutMs: 10_000 })
    clock.advance(50_000)
    await replay(executionId)

    expect((await fabric.look(executionId)).deadlineAt).toBe(clock.now() + 10_000)
    expect((await fabric.duePass()).handled).toEqual([])
    clock.advance(10_000)
    expect((await fabric.duePass()).handled).toMatchObject([{ case: 'execution_deadline' }])
  })

  test('what never ran begins with its first attempt', async () => {
    const submitted = await given.eligibleExecution()
    await fabric.run('cancelExecution', { ...submitted, ...forcedCancel })
    await replay(submitted.executionId)

    expect((await given.claim()).executions).toMatchObject([
      { attemptKind: 'initial', fence: { attempt: 1, epoch: 1 } },
    ])
  })

  test('keeps its place in the queue: priority, then creation', async () => {
    const { executionId } = await given.endedExecution('failed')
    clock.advance(1_000)
    const younger = await given.eligibleExecution()
    await replay(executionId)

    expect(await given.readyOrder()).toEqual([executionId, younger.executionId])
  })

  test('is idempotent per request id, also after it has run and ended', async () => {
    const held = await given.endedExecution('failed')
    const requestId = given.requestId()
    await replay(held.executionId, requestId)
    const before = await fabric.dump()

    expect(await replay(held.executionId, requestId)).toEqual({ kind: 'already_replayed', replayCount: 1 })
    expect(await fabric.dump()).toEqual(before)

    await fabric.run('completeExecution', await given.claimOf(held))
    expect(await replay(held.executionId, requestId)).toEqual({ kind: 'already_replayed', replayCount: 1 })
    expect((await fabric.look(held.executionId)).state).toMatchObject({ outcome: 'completed' })
  })

  test.each(['eligible', 'delayed', 'active'] as const)('of a %s execution is refused', async (phase) => {
    const { executionId } = await given.inPhase(phase)
    const before = await fabric.dump()

    expect(await replay(executionId)).toMatchObject({
      kind: 'refused',
      code: 'execution_not_ended',
      detail: { phase },
    })
    expect(await fabric.dump()).toEqual(before)
  })

  test('beyond the cap is refused and changes nothing', async () => {
    const submitted = await given.eligibleExecution()
    for (let i = 0; i < REPLAY_CAP; i++) {
      await fabric.run('completeExecution', await given.claimOf(submitted))
      expect(await replay(submitted.executionId)).toEqual({ kind: 'replayed', replayCount: i + 1 })
    }
    await fabric.run('completeExecution', await given.claimOf(submitted))
    const before = await fabric.dump()

    expect(await replay(submitted.executionId)).toMatchObject({
      kind: 'refused',
      code: 'replays_exhausted',
      detail: { limit: REPLAY_CAP },
    })
    expect(await fabric.dump()).toEqual(before)
    expect(await fabric.attemptsOf(submitted.executionId)).toHaveLength(REPLAY_CAP + 1)
  })

  test('the count of lost leases starts over', async () => {
    const submitted = await given.eligibleExecution()
    await given.claimOf(submitted)
    clock.advance(LEASE_TTL_MS)
    await fabric.run('completeExecution', await given.claimOf(submitted))
    expect((await fabric.look(submitted.executionId)).reclaimCount).toBe(1)

    await replay(submitted.executionId)

    expect((await fabric.look(submitted.executionId)).reclaimCount).toBe(0)
  })

  test('of an execution that was cancelled while parked, closes that attempt and begins a new one', async () => {
    const held = await given.activeExecution()
    await fabric.run('delayExecution', { ...held, delayMs: 5_000 })
    await fabric.run('cancelExecution', { executionId: held.executionId, ...forcedCancel })
    await replay(held.executionId)

    expect((await given.claim()).executions).toMatchObject([{ attemptKind: 'replay', fence: { attempt: 2 } }])
    expect(await fabric.attemptsOf(held.executionId)).toMatchObject([{ number: 1, outcome: 'cancelled' }])
  })

  test('two replays that arrive together replay once', async () => {
    const { executionId } = await given.endedExecution('failed')

    const results = await Promise.all([replay(executionId), replay(executionId)])

    expect(results).toMatchObject([{ kind: 'replayed' }, { kind: 'refused', code: 'execution_not_ended' }])
  })
})
