import { describe, expect, test } from 'vitest'
import { OPERATION_WORK_LIMIT, PURGE_COUNT_MAX } from '../../src/kernel/index.ts'
import type { Position, PurgeInput } from '../../src/kernel/index.ts'
import { RETENTION_MS, fixedRetry, forcedCancel, heldOf, transientFailure } from './given.ts'
import { conformsOnServers } from './harness.ts'

const bytes = new Uint8Array([1, 2, 3])

conformsOnServers('purgeExecutions', ({ fabric, given, clock }) => {
  const purge = (input: PurgeInput = {}) => fabric.run('purgeExecutions', input)

  test('removes an ended execution when its retention is over, with all that belongs to it', async () => {
    const held = await given.activeExecution({
      bytes,
      retry: fixedRetry(3, 0),
      tags: [{ name: 'team', value: 'a', indexed: true }],
    })
    await fabric.run('failExecution', { ...held, ...transientFailure })
    await fabric.run(
      'completeExecution',
      { ...(await given.claimOf(held)), result: { blob: 0, size: 3, encoding: 'bytes' } },
      [bytes],
    )
    const endedAt = clock.now()
    clock.advance(RETENTION_MS + 5)

    expect(await purge()).toEqual({
      kind: 'purged',
      purged: [held.executionId],
      purgedFlows: [],
      next: undefined,
      nextDueAt: undefined,
      oldestDueAt: endedAt + RETENTION_MS,
      at: clock.now(),
    })

    expect(await fabric.dump()).toMatchObject({ records: [], entries: [], blobKeys: [] })
    expect((await given.eventTypesOf(held)).at(-1)).toBe('execution_purged')
  })

  test('does nothing a millisecond earlier, and returns when it will be due', async () => {
    const held = await given.endedExecution('completed')
    const dueAt = clock.now() + RETENTION_MS
    clock.advance(RETENTION_MS - 1)

    expect(await purge()).toMatchObject({ purged: [], nextDueAt: dueAt })
    expect(await fabric.exists(held.executionId)).toBe(true)
  })

  test('goes by the retention of each execution', async () => {
    const long = await given.endedExecution('completed', { retentionMs: 10_000 })
    const short = await given.endedExecution('completed', { retentionMs: 1_000 })
    clock.advance(1_000)

    expect((await purge()).purged).toEqual([short.executionId])
    expect(await fabric.exists(long.executionId)).toBe(true)
  })

  test('goes by the retention of the outcome, or that of all outcomes', async () => {
    const retentions = {
      completed: 1_000,
      failed: 60_000,
      cancelled: undefined,
      expired: 0,
      skipped: undefined,
      keep: undefined,
    }
    const draft = { retentionMs: 10_000, retentions }

    for (const [outcome, keptMs] of [
      ['completed', 1_000],
      ['cancelled', 10_000],
      ['expired', 0],
      ['failed', 60_000],
    ] as const) {
      const { executionId } = await given.endedExecution(outcome, draft)
      clock.advance(Math.max(0, keptMs - 1))
      expect((await purge()).purged).toEqual(keptMs === 0 ? [executionId] : [])
      clock.advance(1)
      expect((await purge()).purged).toEqual(keptMs === 0 ? [] : [executionId])
    }
  })

  describe('of a task that keeps a number', () => {
    const keeping = (keep: number) => ({
      retentions: {
        completed: undefined,
        failed: undefined,
        cancelled: undefined,
        expired: undefined,
        skipped: undefined,
        keep,
      },
    })
    const of = { namespace: 'default', task: 'greet' }

    async function endMany(count: number, keep: number): Promise<string[]> {
      const ids: string[] = []
      for (let i = 0; i < count; i++) {
        clock.advance(10)
        ids.push((await given.endedExecution(i % 2 === 0 ? 'completed' : 'failed', keeping(keep))).executionId)
      }
      return ids
    }

    test('counts and lists the ended ones, oldest first, and removes as many as it is asked to', async () => {
      const ids = await endMany(5, 3)
      const counted = await fabric.run('countKept', {})
      const { count, oldest } = await fabric.run('listKept', { ...of, keep: 3 })

      const kept = { ...of, count: 2, to: oldest[1]?.score ?? 0 }
      const first = await fabric.run('purgeExecutions', { kept })
      const again = await fabric.run('purgeExecutions', { kept })

      expect(counted.tasks).toEqual([{ ...of, keep: 3, count: 5 }])
      expect(count).toBe(5)
      expect(oldest.map(({ id }) => id)).toEqual(ids)
      expect([first.purged, again.purged]).toEqual([ids.slice(0, 2), []])
      expect((await fabric.run('countKept', {})).tasks).toEqual([{ ...of, keep: 3, count: 3 }])
      expect((await purge()).purged).toEqual([])
    })

    test('counts none that has not ended, has no number, or ended again', async () => {
      await given.endedExecution('completed')
      await given.activeExecution(keeping(2))
      const [id] = await endMany(1, 2)
      await fabric.run('replayExecution', { executionId: id as never, requestId: given.requestId(), by: 'ada' })

      expect((await fabric.run('countKept', {})).tasks).toEqual([{ ...of, keep: 2, count: 0 }])
      expect(await fabric.run('listKept', { ...of, keep: 2 })).toMatchObject({ count: 0, oldest: [] })
    })

    test('the number of the latest submit applies', async () => {
      await endMany(1, 2)
      await endMany(1, 7)

      expect((await fabric.run('countKept', {})).tasks).toEqual([{ ...of, keep: 7, count: 2 }])
    })
  })

  test('keeps the id for the longer of its own time and the retention of the outcome', async () => {
    const retentions = {
      completed: 1_000,
      failed: 60_000,
      cancelled: undefined,
      expired: undefined,
      skipped: undefined,
      keep: undefined,
    }
    const draft = { retentionMs: 60_000, retentions, dedupeMs: 30_000 }
    const completed = await given.endedExecution('completed', draft)
    const failed = await given.endedExecution('failed', draft)

    clock.advance(1_000)
    expect((await purge()).purged).toEqual([completed.executionId])
    expect(await fabric.exists(completed.executionId)).toBe(true)
    clock.advance(29_000)
    await purge()
    expect(await fabric.exists(completed.executionId)).toBe(false)
    expect(await fabric.exists(failed.executionId)).toBe(true)
    clock.advance(30_000)
    expect((await purge()).purged).toEqual([failed.executionId])
    expect(await fabric.exists(failed.executionId)).toBe(false)
  })

  test.each(['eligible', 'delayed', 'active'] as const)('never touches a %s execution, however old', async (phase) => {
    const { executionId } = await given.inPhase(phase, { retentionMs: 0 })
    clock.advance(10 * RETENTION_MS)

    expect((await purge()).purged).toEqual([])
    expect(await fabric.exists(executionId)).toBe(true)
  })

  test('does not take an execution that was replayed in time', async () => {
    const { executionId } = await given.endedExecution('completed')
    clock.advance(RETENTION_MS)
    await fabric.run('replayExecution', { executionId, requestId: given.requestId() })

    expect((await purge()).purged).toEqual([])
    expect(await fabric.exists(executionId)).toBe(true)
  })

  test('counts retention from the latest end', async () => {
    const held = await given.endedExecution('completed')
    clock.advance(RETENTION_MS - 1)
    await fabric.run('replayExecution', { executionId: held.executionId, requestId: given.requestId() })
    await fabric.run('completeExecution', await given.claimOf(held))

    expect(await given.purgeAt(held)).toBe(clock.now() + RETENTION_MS)
  })

  test('a purged execution is unknown to every call', async () => {
    const held = await given.endedExecution('completed', { retentionMs: 0 })
    await purge()

    expect(await fabric.run('completeExecution', held)).toMatchObject({ code: 'execution_not_found' })
    expect(await fabric.run('listExecutions', { limit: 10 })).toMatchObject({ executions: [] })
    expect((await purge()).purged).toEqual([])
  })

  test('takes the oldest first, a bounded number at a time, until all are gone', async () => {
    const total = 2 * PURGE_COUNT_MAX + 7
    const submitted = await given.executions(total, () => ({ retentionMs: 0 }))
    await Promise.all(submitted.map((one) => fabric.run('cancelExecution', { ...one, ...forcedCancel })))

    const sizes: number[] = []
    let next: Position | undefined
    do {
      const page = await purge({ from: next })
      sizes.push(page.purged.length)
      next = page.next
    } while (next !== undefined && sizes.length < 10)

    expect(sizes.every((size) => size <= PURGE_COUNT_MAX)).toBe(true)
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(total)
    expect((await fabric.dump()).records).toEqual([])
  })

  test.each([45, 49])(
    'stops within the work of one operation when histories have %d attempts, and leaves nothing half removed',
    async (attempts) => {
      const submitted = await given.executions(4, () => ({ retentionMs: 0, retry: fixedRetry(attempts, 0) }))
      for (let i = 0; i < attempts; i++) {
        const { executions } = await given.claim({ count: submitted.length })
        await Promise.all(
          executions.map((claimed) => fabric.run('failExecution', { ...heldOf(claimed), ...transientFailure })),
        )
      }

      const purged: string[] = []
      let next: Position | undefined
      do {
        const page = await purge({ from: next })
        // One unit of work is kept back for the queue that may fall empty.
        expect(page.purged.length * (attempts + 1)).toBeLessThan(OPERATION_WORK_LIMIT)
        purged.push(...page.purged)
        next = page.next
      } while (next !== undefined && purged.length < submitted.length)

      expect(purged.toSorted()).toEqual(submitted.map((one) => one.executionId).toSorted())
      expect(await fabric.dump()).toMatchObject({ records: [], entries: [] })
    },
  )

  test('touches only what the filter names, and gets past the rest', async () => {
    const others = await given.executions(PURGE_COUNT_MAX + 1, () => ({ retentionMs: 0, namespace: 'other' }))
    clock.advance(1)
    const mine = await given.eligibleExecution({ retentionMs: 0, namespace: 'mine' })
    for (const one of [...others, mine]) await fabric.run('cancelExecution', { ...one, ...forcedCancel })

    const first = await purge({ filter: { namespace: 'mine' } })
    const second = await purge({ filter: { namespace: 'mine' }, from: first.next })

    expect([...first.purged, ...second.purged]).toEqual([mine.executionId])
    expect(await fabric.exists(others[0]!.executionId)).toBe(true)
  })

  test('skips what its input excludes', async () => {
    const poisoned = await given.endedExecution('completed', { retentionMs: 0 })
    const fine = await given.endedExecution('completed', { retentionMs: 0 })

    expect((await purge({ skip: [poisoned.executionId] })).purged).toEqual([fine.executionId])
  })

  test('forgets a queue when nothing of its lane is left, not before', async () => {
    const queues = async () => (await fabric.dump()).records.filter((record) => record.type === 'queue').length
    const first = await given.eligibleExecution({ retentionMs: 0 })
    const second = await given.eligibleExecution({ retentionMs: 0 })
    await fabric.run('cancelExecution', { ...first, ...forcedCancel })
    await purge()
    expect(await queues()).toBe(1)

    await fabric.run('cancelExecution', { ...second, ...forcedCancel })
    await purge()
    expect(await queues()).toBe(0)
  })

  test('forgets every queue of a lane that falls empty, whichever class was purged last', async () => {
    const first = await given.eligibleExecution({ class: 'one', retentionMs: 0 })
    const second = await given.activeExecution({ class: 'two', retentionMs: 0 })
    await fabric.run('cancelExecution', { ...first, ...forcedCancel })
    await purge()
    await fabric.run('completeExecution', second)
    await purge()

    expect((await fabric.dump()).records).toEqual([])
  })

  test('a queue that was forgotten is registered again by the next submit', async () => {
    await given.endedExecution('completed', { retentionMs: 0 })
    await purge()
    const again = await given.eligibleExecution()

    expect((await given.claim()).executions).toMatchObject([{ executionId: again.executionId }])
  })
})
