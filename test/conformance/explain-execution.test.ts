import { expect, test } from 'vitest'
import { AHEAD_COUNT_MAX } from '../../src/kernel/index.ts'
import type { ExecutionId, Explanation } from '../../src/kernel/index.ts'
import { GRACE_MS, LANE, LEASE_TTL_MS, fixedRetry, politeCancel, transientFailure } from './given.ts'
import { conforms } from './harness.ts'

conforms('explainExecution', ({ fabric, given, clock }) => {
  async function why(executionId: ExecutionId): Promise<Explanation> {
    const before = await fabric.dump()
    const result = await fabric.run('explainExecution', { executionId })
    expect(await fabric.dump()).toEqual(before)
    if (result.kind === 'refused') throw new Error('the test explains an execution that does not exist')
    return result.explanation
  }

  test('of a waiting one returns how many are ahead and whether a worker serves the lane', async () => {
    await given.activeExecution()
    await given.executions(2, () => ({ priority: 5 }))
    const { executionId } = await given.eligibleExecution()
    const since = clock.now()
    clock.advance(100)
    await given.executions(3)

    expect(await why(executionId)).toEqual({
      why: 'waits_for_worker',
      since,
      lane: LANE,
      task: 'greet',
      namespace: 'default',
      needs: [],
      ahead: 2,
      aheadLimit: AHEAD_COUNT_MAX,
      activeInLane: 1,
      isTaskHeld: false,
    })
  })

  test('of one delayed by its submitter returns until when', async () => {
    const { executionId } = await given.delayedExecution({ delayMs: 5_000 })

    expect(await why(executionId)).toMatchObject({
      why: 'delayed',
      until: clock.now() + 5_000,
      cause: 'submitted',
      isOverdue: false,
    })
    clock.advance(5_000)
    expect(await why(executionId)).toMatchObject({ isOverdue: true })
  })

  test('of one that waits for a retry returns the failure and the attempts left', async () => {
    const held = await given.activeExecution({ retry: fixedRetry(3, 5_000) })
    await fabric.run('failExecution', { ...held, ...transientFailure })

    expect(await why(held.executionId)).toMatchObject({
      why: 'delayed',
      cause: 'retry',
      failure: { message: 'no connection' },
      failureCount: 1,
      attempts: 3,
    })
  })

  test('of a running one returns its holder, since when, and whether the lease is valid', async () => {
    const { executionId } = await given.activeExecution()
    const since = clock.now()
    await fabric.run('cancelExecution', { executionId, ...politeCancel })

    expect(await why(executionId)).toMatchObject({
      why: 'running',
      attempt: 1,
      since,
      workerId: 'worker',
      workerInstanceId: 'worker-1',
      leaseExpiresAt: since + LEASE_TTL_MS,
      isLeaseExpired: false,
      cancel: { by: 'operator', forceAt: since + GRACE_MS },
    })
    clock.advance(LEASE_TTL_MS)
    expect(await why(executionId)).toMatchObject({ isLeaseExpired: true })
  })

  test.each(['completed', 'failed', 'cancelled', 'expired'] as const)(
    'of one that %s returns how and when',
    async (outcome) => {
      const { executionId } = await given.endedExecution(outcome)

      expect(await why(executionId)).toMatchObject({ why: 'ended', outcome, endedAt: clock.now() })
    },
  )

  test('stops counting those ahead at its limit', async () => {
    await given.executions(AHEAD_COUNT_MAX + 20)
    clock.advance(1)
    const { executionId } = await given.eligibleExecution()

    expect(await why(executionId)).toMatchObject({ ahead: AHEAD_COUNT_MAX, aheadLimit: AHEAD_COUNT_MAX })
  })
})
