import { expect, test } from 'vitest'
import { CREATED_INDEX, DUE_INDEX, PURGE_INDEX, laneIndex, readyIndex, tagIndex } from '../../src/kernel/index.ts'
import type { IndexProblem, ReconcileCursor } from '../../src/kernel/index.ts'
import { damages } from './damage.ts'
import type { TestFabric } from './fabric.ts'
import { call } from './fabric.ts'
import { CLASS, LANE, LEASE_TTL_MS, forcedCancel } from './given.ts'
import { conforms, conformsOnServers } from './harness.ts'
import { reachableTargets } from './targets.ts'

const unreadable = { kind: 'fault', reason: 'the record cannot be read' } as const

conforms(
  'a record that was damaged outside',
  ({ fabric, given, clock }) => {
    test.each(damages)('is named by a call that reads it: %s', async (damage) => {
      const held = await given.activeExecution()
      const { executionId } = held
      const heal = await fabric.damage(executionId, damage)

      const answers = await fabric.batch(
        call('describeExecution', { executionId }),
        call('explainExecution', { executionId }),
        call('completeExecution', held),
        call('renewLease', { ...held, leaseTtlMs: LEASE_TTL_MS }),
        call('cancelExecution', { executionId, ...forcedCancel }),
        call('createExecution', given.createInput({ executionId, ifExists: 'replace' })),
      )
      await heal()

      expect(answers).toEqual(answers.map(() => ({ ...unreadable, recordId: executionId })))
      expect(await fabric.run('completeExecution', held)).toMatchObject({ kind: 'completed' })
    })

    test.each(damages)('does not block the others: %s', async (damage) => {
      const damaged = await given.eligibleExecution({ priority: 10 })
      const healthy = await given.eligibleExecution()
      const heal = await fabric.damage(damaged.executionId, damage)

      const [listed, counted, claimed] = await fabric.batch(
        call('listExecutions', { limit: 10 }),
        call('countExecutions', {}),
        call('claimForWorker', given.claimInput({ count: 10 })),
      )
      await heal()

      expect(listed).toMatchObject({ result: { executions: [{ id: healthy.executionId }] } })
      expect(counted).toMatchObject({ result: { lanes: [{ counts: [{ state: 'waiting', count: 2 }] }] } })
      expect(claimed).toMatchObject({ result: { executions: [{ executionId: healthy.executionId }], more: true } })
      expect(await given.claim()).toMatchObject({ executions: [{ executionId: damaged.executionId }] })
    })

    test.each(damages)('does not stop what time alone makes due: %s', async (damage) => {
      const damaged = await given.delayedExecution({ delayMs: 1_000 })
      const healthy = await given.delayedExecution({ delayMs: 2_000 })
      clock.advance(2_000)
      const heal = await fabric.damage(damaged.executionId, damage)

      const pass = await fabric.duePass()
      await heal()

      expect(pass.handled).toEqual([{ case: 'delayed_promoter', executionId: healthy.executionId }])
      expect((await fabric.duePass()).handled).toEqual([{ case: 'delayed_promoter', executionId: damaged.executionId }])
    })
  },
  reachableTargets,
)

/** Walks the whole partition once. */
async function reconcile(fabric: TestFabric): Promise<IndexProblem[]> {
  const repaired: IndexProblem[] = []
  let cursor: ReconcileCursor | undefined
  do {
    const step = await fabric.run('reconcileIndexes', { cursor })
    repaired.push(...step.repaired)
    cursor = step.cursor
  } while (cursor !== undefined)
  return repaired
}

conformsOnServers('an index that was damaged', ({ fabric, given, clock }) => {
  test('is repaired by its reconciler, entry by entry, until it is as it was', async () => {
    const lost = await given.delayedExecution()
    const late = await given.delayedExecution()
    const doubled = await given.eligibleExecution({ tags: [{ name: 'team', value: 'grün', indexed: true }] })
    const before = await fabric.dump()
    await fabric.setEntry(DUE_INDEX, lost.executionId, undefined)
    await fabric.setEntry(DUE_INDEX, late.executionId, 5)
    await fabric.setEntry(laneIndex(LANE, 'active'), doubled.executionId, 1)
    await fabric.setEntry(tagIndex('team', 'grün'), doubled.executionId, 1)
    await fabric.setEntry(PURGE_INDEX, '0-gone', 1)

    const repaired = await reconcile(fabric)

    expect(repaired).toEqual([
      { problem: 'missing_entry', index: DUE_INDEX, id: lost.executionId },
      { problem: 'wrong_score', index: DUE_INDEX, id: late.executionId },
      { problem: 'wrong_score', index: tagIndex('team', 'grün'), id: doubled.executionId },
      { problem: 'extra_entry', index: PURGE_INDEX, id: '0-gone' },
      { problem: 'extra_entry', index: laneIndex(LANE, 'active'), id: doubled.executionId },
    ])
    expect(await fabric.dump()).toEqual(before)
  })

  test('that has lost an execution finds it through its other entries', async () => {
    const { executionId } = await given.eligibleExecution()
    const before = await fabric.dump()
    await fabric.setEntry(CREATED_INDEX, executionId, undefined)

    const repaired = await reconcile(fabric)

    expect(repaired).toEqual([{ problem: 'missing_entry', index: CREATED_INDEX, id: executionId }])
    expect(await fabric.dump()).toEqual(before)
  })

  test('names nothing that can be claimed, and does not block what can', async () => {
    const held = await given.activeExecution()
    const waiting = await given.eligibleExecution()
    await fabric.setEntry(readyIndex(LANE, CLASS), held.executionId, 1)
    await fabric.setEntry(readyIndex(LANE, CLASS), '0-gone', 2)

    const { executions } = await given.claim({ count: 10 })
    await reconcile(fabric)

    expect(executions).toMatchObject([{ executionId: waiting.executionId }])
  })

  test('is as the last operation of a batch wants it, though the one before it repaired the same entries', async () => {
    const others = await Promise.all(Array.from({ length: 5 }, () => given.eligibleExecution()))
    const { executionId } = await given.eligibleExecution()
    await fabric.setEntry(readyIndex(LANE, CLASS), executionId, undefined)

    const answers = await fabric.batch(
      call('reconcileIndexes', {}),
      ...[...others, { executionId }].map((each) => call('cancelExecution', { ...each, ...forcedCancel })),
    )

    expect(answers[0]).toMatchObject({ result: { repaired: [{ problem: 'missing_entry', id: executionId }] } })
    expect(await reconcile(fabric)).toEqual([])
    expect(await given.claim()).toMatchObject({ executions: [], more: false })
  })

  test('with a timer that nothing has makes the pass a fault, which names the execution', async () => {
    const { executionId } = await given.eligibleExecution()
    await fabric.setEntry(DUE_INDEX, executionId, clock.now())

    const [answer] = await fabric.batch(call('runDue', { limit: 10, seed: 1 }))
    await reconcile(fabric)

    expect(answer).toEqual({
      kind: 'fault',
      reason: 'the due index names an execution for which nothing is due',
      recordId: executionId,
    })
  })
})
