/** Two callers race for one execution. In either order, one of them wins and both get the right answer. */
import { expect, test } from 'vitest'
import { LEASE_TTL_MS, fixedRetry, forcedCancel, heldOf, permanentFailure } from './given.ts'
import type { Held } from './given.ts'
import type { Bench } from './harness.ts'
import { conformsOnServers } from './harness.ts'

type Move = (held: Held) => Promise<{ readonly kind: string }>

/** Sends both without waiting in between, in the order given. Returns both answers. */
async function race(held: Held, first: Move, second: Move): Promise<string[]> {
  const answers = await Promise.all([first(held), second(held)])
  return answers.map((answer) => ('code' in answer ? String(answer.code) : answer.kind))
}

function moves({ fabric }: Bench) {
  const stuck = { reason: 'stuck', by: 'operator' }
  return {
    complete: (held: Held) => fabric.run('completeExecution', held),
    fail: (held: Held) => fabric.run('failExecution', { ...held, ...permanentFailure }),
    release: (held: Held) => fabric.run('releaseExecution', { ...held, reason: 'shutdown' }),
    renew: (held: Held) => fabric.run('renewLease', { ...held, leaseTtlMs: LEASE_TTL_MS }),
    cancel: ({ executionId }: Held) => fabric.run('cancelExecution', { executionId, ...forcedCancel }),
    revoke: ({ executionId }: Held) => fabric.run('revokeLease', { executionId, ...stuck }),
  }
}

conformsOnServers('a race', (bench) => {
  const { fabric, given, clock } = bench
  const { complete, fail, release, renew, cancel, revoke } = moves(bench)

  test.each([
    ['complete before cancel', complete, cancel, ['completed', 'execution_ended'], 'completed'],
    ['cancel before complete', cancel, complete, ['cancelled', 'execution_not_active'], 'cancelled'],
    ['complete before revoke', complete, revoke, ['completed', 'no_active_lease'], 'completed'],
    ['complete before fail', complete, fail, ['completed', 'execution_not_active'], 'completed'],
    ['fail before complete', fail, complete, ['failed', 'execution_not_active'], 'failed'],
    ['complete before release', complete, release, ['completed', 'execution_not_active'], 'completed'],
    ['complete before renew', complete, renew, ['completed', 'execution_not_active'], 'completed'],
  ] as const)('%s: one ends the execution, the other is refused', async (_, first, second, answers, outcome) => {
    const held = await given.activeExecution()

    expect(await race(held, first, second)).toEqual(answers)
    expect((await fabric.look(held.executionId)).state).toMatchObject({ phase: 'ended', outcome })
    expect(await given.eventsOf(held, 'execution_ended')).toHaveLength(1)
  })

  test('revoke before complete: the result is refused and another worker begins anew', async () => {
    const held = await given.activeExecution()

    expect(await race(held, revoke, complete)).toEqual(['revoked', 'lease_revoked'])
    expect((await given.claim()).executions).toMatchObject([{ attemptKind: 'reclaim', fence: { attempt: 2 } }])
  })

  test('release before complete: the result is refused and the attempt continues elsewhere', async () => {
    const held = await given.activeExecution()

    expect(await race(held, release, complete)).toEqual(['released', 'execution_not_active'])
    expect((await given.claim()).executions).toMatchObject([{ fence: { attempt: 1, epoch: 2 } }])
  })

  test('renewal a moment before expiry, due pass after it: the lease lives', async () => {
    const held = await given.activeExecution()
    clock.advance(LEASE_TTL_MS - 1)
    expect(await renew(held)).toMatchObject({ kind: 'renewed' })
    clock.advance(1)

    expect((await fabric.duePass()).handled).toEqual([])
    expect(await complete(held)).toMatchObject({ kind: 'completed' })
  })

  test.each(['due pass first', 'renewal first'])(
    'renewal at the moment of expiry, %s: the lease is lost',
    async (order) => {
      const held = await given.activeExecution()
      clock.advance(LEASE_TTL_MS)

      const calls = [() => fabric.duePass(), () => renew(held)]
      const answers = await Promise.all((order === 'due pass first' ? calls : calls.toReversed()).map((send) => send()))

      expect(answers).toContainEqual(expect.objectContaining({ kind: 'refused', code: 'lease_expired' }))
      expect(answers).toContainEqual(
        expect.objectContaining({ handled: [{ case: 'lease_expiry', executionId: held.executionId }] }),
      )
      expect((await fabric.look(held.executionId)).state.phase).toBe('eligible')
    },
  )

  test('of many claimers of one execution, one gets it', async () => {
    const { executionId } = await given.eligibleExecution()

    const claims = await Promise.all(
      Array.from({ length: 20 }, (_, i) => given.claim({ workerInstanceId: `worker-${i}` })),
    )

    const winners = claims.flatMap((claim) => claim.executions)
    expect(winners).toMatchObject([{ executionId, fence: { epoch: 1 } }])
    expect(await given.eventsOf({ executionId }, 'attempt_started')).toHaveLength(1)
  })

  test('of many claimers of one lost lease, one gets it and the old holder is stale', async () => {
    const old = await given.abandonedExecution()

    const claims = await Promise.all(Array.from({ length: 10 }, () => given.claim()))
    const winners = claims.flatMap((claim) => claim.executions)

    expect(winners).toMatchObject([{ executionId: old.executionId, fence: { epoch: 2 } }])
    expect(await complete(old)).toMatchObject({ code: 'stale_lease' })
    expect(await complete(heldOf(winners[0]!))).toMatchObject({ kind: 'completed' })
  })

  test('claim and cancel of a waiting execution: it is cancelled, or held and asked to stop', async () => {
    const first = await given.eligibleExecution()
    const polite = { reason: 'no', by: 'me', force: false, graceMs: 1_000 }
    const [cancelled, claim] = await Promise.all([
      fabric.run('cancelExecution', { ...first, ...polite }),
      given.claim(),
    ])
    expect([cancelled.kind, claim.executions.length]).toEqual(['cancelled', 0])

    const second = await given.eligibleExecution()
    const [taken, asked] = await Promise.all([given.claim(), fabric.run('cancelExecution', { ...second, ...polite })])
    expect([taken.executions.length, asked.kind]).toEqual([1, 'cancel_requested'])
  })

  test('replay and purge at the moment retention ends: it runs again or it is gone, never both', async () => {
    const replayed = await given.endedExecution('completed', { retentionMs: 0 })
    const replay = (executionId: Held['executionId']) =>
      fabric.run('replayExecution', { executionId, requestId: given.requestId() })
    await Promise.all([replay(replayed.executionId), fabric.run('purgeExecutions', {})])
    expect((await fabric.look(replayed.executionId)).state.phase).toBe('eligible')

    const purged = await given.endedExecution('completed', { retentionMs: 0, lane: 'other' })
    const [, late] = await Promise.all([fabric.run('purgeExecutions', {}), replay(purged.executionId)])
    expect(late).toMatchObject({ code: 'execution_not_found' })
  })

  test('a holder that was slow and its successor can never both succeed', async () => {
    const submitted = await given.eligibleExecution({ retry: fixedRetry(5, 0) })
    const holders: Held[] = []
    for (let i = 0; i < 5; i++) {
      holders.push(await given.claimOf(submitted))
      clock.advance(LEASE_TTL_MS)
    }
    clock.advance(-1)

    const answers = await Promise.all(holders.map((held) => complete(held)))

    expect(answers.map((answer) => answer.kind)).toEqual(['refused', 'refused', 'refused', 'refused', 'completed'])
  })
})
