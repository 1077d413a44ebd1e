/** What every lease-bound call answers to a stale holder, or about an execution that does not exist. */
import { expect, test } from 'vitest'
import type { Fence } from '../../src/kernel/index.ts'
import { LEASE_TTL_MS, fixedRetry, forcedCancel, transientFailure } from './given.ts'
import type { Held } from './given.ts'
import type { Bench } from './harness.ts'
import { conforms } from './harness.ts'

const holderCalls = {
  renewLease: ({ fabric }: Bench, held: Held) => fabric.run('renewLease', { ...held, leaseTtlMs: LEASE_TTL_MS }),
  completeExecution: ({ fabric }: Bench, held: Held) => fabric.run('completeExecution', held),
  failExecution: ({ fabric }: Bench, held: Held) => fabric.run('failExecution', { ...held, ...transientFailure }),
  releaseExecution: ({ fabric }: Bench, held: Held) => fabric.run('releaseExecution', { ...held, reason: 'shutdown' }),
  delayExecution: ({ fabric }: Bench, held: Held) => fabric.run('delayExecution', { ...held, delayMs: 1_000 }),
  updateProgress: ({ fabric }: Bench, held: Held) => fabric.run('updateProgress', { ...held, percent: 50 }),
  cancelExecution: ({ fabric }: Bench, held: Held) => fabric.run('cancelExecution', { ...held, ...forcedCancel }),
}
const callNames = Object.keys(holderCalls) as (keyof typeof holderCalls)[]

conforms('a holder that is one no more', (bench) => {
  const { fabric, given, clock } = bench

  /** Every lease-bound call is refused with this code, and leaves everything exactly as it was. */
  async function expectRefusals(held: Held, code: string): Promise<void> {
    const before = await fabric.dump()
    for (const name of callNames) {
      expect.soft(await holderCalls[name](bench, held), name).toMatchObject({ kind: 'refused', code })
    }
    expect(await fabric.dump()).toEqual(before)
  }

  test('whose lease ran out unnoticed', async () => {
    await expectRefusals(await given.abandonedExecution(), 'lease_expired')
  })

  test('whose lease ran out and was put back', async () => {
    const held = await given.abandonedExecution()
    await fabric.duePass()
    await expectRefusals(held, 'lease_expired')
  })

  test('whose lease was revoked', async () => {
    const held = await given.activeExecution()
    await fabric.run('revokeLease', { executionId: held.executionId, reason: 'stuck', by: 'operator' })
    await expectRefusals(held, 'lease_revoked')
  })

  test('who was followed by another', async () => {
    const held = await given.abandonedExecution()
    await given.claimOf(held)
    await expectRefusals(held, 'stale_lease')
  })

  test('who was followed by another whose lease ran out too', async () => {
    const held = await given.abandonedExecution()
    await given.claimOf(held)
    clock.advance(LEASE_TTL_MS)
    await expectRefusals(held, 'lease_expired')
  })

  test('whose attempt timed out', async () => {
    const held = await given.activeExecution({ attemptTimeoutMs: 1_000, retry: fixedRetry(2, 60_000) })
    clock.advance(1_000)
    await fabric.duePass()
    await expectRefusals(held, 'execution_not_active')
  })

  test('of an execution that ended, was replayed and runs again', async () => {
    const held = await given.endedExecution('completed')
    await fabric.run('replayExecution', { executionId: held.executionId, requestId: given.requestId() })
    await expectRefusals(held, 'execution_not_active')
    await given.claimOf(held)
    await expectRefusals(held, 'stale_lease')
  })

  test.each([
    ['lease id', (fence: Fence) => ({ ...fence, leaseId: 'another lease' })],
    ['epoch', (fence: Fence) => ({ ...fence, epoch: fence.epoch + 1 })],
    ['attempt', (fence: Fence) => ({ ...fence, attempt: fence.attempt + 1 })],
  ])('whose fence differs in its %s', async (_, change) => {
    const held = await given.activeExecution()
    await expectRefusals({ ...held, fence: change(held.fence) }, 'stale_lease')
  })

  test.each(['lease id', 'epoch', 'attempt'])(
    'repeating its last call with another %s is not recognised',
    async (part) => {
      const held = await given.endedExecution('completed')
      const fence = {
        leaseId: part === 'lease id' ? 'another lease' : held.fence.leaseId,
        epoch: held.fence.epoch + (part === 'epoch' ? 1 : 0),
        attempt: held.fence.attempt + (part === 'attempt' ? 1 : 0),
      }

      expect(await fabric.run('completeExecution', { ...held, fence })).toMatchObject({ code: 'execution_not_active' })
    },
  )

  test('gets the state of the execution', async () => {
    const held = await given.endedExecution('failed')

    expect(await fabric.run('completeExecution', held)).toEqual({
      kind: 'refused',
      code: 'execution_not_active',
      detail: {
        executionId: held.executionId,
        state: 'failed',
        phase: 'ended',
        outcome: 'failed',
        epoch: 1,
        attempt: 1,
      },
    })
  })
})

conforms('an execution that does not exist', (bench) => {
  const { fabric, given } = bench

  test('is refused as unknown by every call, which creates nothing', async () => {
    const executionId = given.newId()
    const held = { executionId, fence: { leaseId: 'x', epoch: 1, attempt: 1 } }
    const answers = [
      ...(await Promise.all(callNames.map((name) => holderCalls[name](bench, held)))),
      await fabric.run('cancelExecution', { executionId, ...forcedCancel }),
      await fabric.run('revokeLease', { executionId, reason: 'x', by: 'x' }),
      await fabric.run('changePriority', { executionId, priority: 1 }),
      await fabric.run('setTags', { executionId, set: [], remove: [] }),
      await fabric.run('replayExecution', { executionId, requestId: 'x' }),
      await fabric.run('describeExecution', { executionId }),
      await fabric.run('explainExecution', { executionId }),
    ]

    for (const answer of answers) {
      expect(answer).toEqual({ kind: 'refused', code: 'execution_not_found', detail: { executionId } })
    }
    expect(await fabric.dump()).toMatchObject({ records: [], entries: [], blobKeys: [], events: [] })
  })
})
