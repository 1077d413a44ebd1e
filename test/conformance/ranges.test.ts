import { expect, test } from 'vitest'
import { LIST_SCAN_COUNT, PURGE_COUNT_MAX } from '../../src/kernel/index.ts'
import type { Position } from '../../src/kernel/index.ts'
import { call } from './fabric.ts'
import { DELAY_MS, forcedCancel } from './given.ts'
import { conformsOnServers } from './harness.ts'

/** More than a store looks at in one step, all of one moment. */
const MANY = 2 * LIST_SCAN_COUNT + 50

conformsOnServers('a range of an index', ({ fabric, given, clock }) => {
  test('continues after an entry that is gone, in the middle of many of one moment', async () => {
    const submitted = await given.executions(MANY, () => ({ retentionMs: 0 }))
    const order = submitted.map((one) => one.executionId).toSorted()
    const gone = order[MANY - 150]!
    await fabric.run('cancelExecution', { executionId: gone, ...forcedCancel })
    await fabric.run('purgeExecutions', {})

    const cursor = { score: clock.now(), id: gone }
    const { executions } = await fabric.run('listExecutions', { limit: 10, cursor })

    expect(executions.map((execution) => execution.id)).toEqual(order.slice(MANY - 160, MANY - 150).toReversed())
  })

  test('continues after an entry that has moved to another place of the same index', async () => {
    await given.executions(20, () => ({ delayMs: 1_000 }))
    clock.advance(1_000)
    const first = await fabric.duePass({ limit: 5, filter: { namespace: 'unused' } })
    const moved = first.next?.id
    if (moved === undefined) throw new Error('the pass did not stop behind an entry')
    await fabric.setEntry('due', moved, clock.now() + 1)

    const second = await fabric.duePass({ limit: 100, from: first.next })
    await fabric.setEntry('due', moved, clock.now())

    expect(second.handled).toHaveLength(15)
    expect((await fabric.duePass()).handled).toHaveLength(5)
  })

  test('goes forward behind entries that its own walk takes away, and leaves none out', async () => {
    const submitted = await given.executions(MANY, () => ({ retentionMs: 0 }))
    await Promise.all(submitted.map((one) => fabric.run('cancelExecution', { ...one, ...forcedCancel })))

    const purged: string[] = []
    let next: Position | undefined
    do {
      const pass = await fabric.run('purgeExecutions', { from: next })
      expect(pass.purged.length).toBeLessThanOrEqual(PURGE_COUNT_MAX)
      purged.push(...pass.purged)
      next = pass.next
    } while (next !== undefined && purged.length <= MANY)

    expect(purged).toEqual(submitted.map((one) => one.executionId).toSorted())
  })

  test('shows an operation its own changes together with what is stored, in one order', async () => {
    const high = await given.delayedExecution({ priority: 9, delayMs: DELAY_MS })
    const stored = await given.eligibleExecution({ priority: 5 })
    const low = await given.delayedExecution({ priority: 1, delayMs: DELAY_MS })
    clock.advance(DELAY_MS)

    const { executions, more } = await given.claim({ count: 2 })

    expect(executions.map((one) => one.executionId)).toEqual([high.executionId, stored.executionId])
    expect(more).toBe(true)
    expect(await given.readyOrder()).toEqual([low.executionId])
  })

  test('shows an operation what the ones before it in a batch have made due', async () => {
    const executionId = given.newId()

    const answers = await fabric.batch(
      call('createExecution', given.createInput({ executionId, totalTimeoutMs: 0 })),
      call('runDue', { limit: 10, seed: 1 }),
      call('createExecution', given.createInput({ delayMs: 1_000 })),
      call('runDue', { limit: 10, seed: 1 }),
    )

    expect(answers).toMatchObject([
      { result: { kind: 'created' } },
      { result: { handled: [{ case: 'execution_deadline', executionId }] } },
      { result: { kind: 'created' } },
      { result: { handled: [], nextDueAt: clock.now() + 1_000 } },
    ])
  })

  test('with entries of one score has them in the order of their ids, from either end', async () => {
    const submitted = await given.executions(30)
    const order = submitted.map((one) => one.executionId).toSorted()

    const listed = await fabric.run('listExecutions', { limit: 30 })
    const claimed = await given.claim({ count: 30 })

    expect(listed.executions.map((execution) => execution.id)).toEqual(order.toReversed())
    expect(claimed.executions.map((one) => one.executionId)).toEqual(order)
  })
})
