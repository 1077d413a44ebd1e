import { expect, test } from 'vitest'
import { DUE_SCAN_COUNT, OPERATION_WORK_LIMIT } from '../../src/kernel/index.ts'
import type { Position } from '../../src/kernel/index.ts'
import { LEASE_TTL_MS, fixedRetry } from './given.ts'
import { conforms } from './harness.ts'

conforms('runDue', ({ fabric, given, clock }) => {
  test('with nothing due, does nothing and returns when something will be', async () => {
    await given.delayedExecution({ delayMs: 5_000 })
    await given.delayedExecution({ delayMs: 3_000 })
    const before = await fabric.dump()

    expect(await fabric.duePass()).toEqual({
      kind: 'due',
      handled: [],
      next: undefined,
      nextDueAt: clock.now() + 3_000,
      oldestDueAt: undefined,
      at: clock.now(),
    })
    expect(await fabric.dump()).toEqual(before)
  })

  test('with no timer at all, returns that nothing will be due', async () => {
    await given.eligibleExecution()

    expect((await fabric.duePass()).nextDueAt).toBeUndefined()
  })

  test('handles everything that is due, earliest first, and returns how late it was', async () => {
    const later = await given.delayedExecution({ delayMs: 2_000 })
    const earlier = await given.delayedExecution({ delayMs: 1_000 })
    const dueAt = clock.now() + 1_000
    await given.delayedExecution({ delayMs: 9_000 })
    clock.advance(5_000)

    expect(await fabric.duePass()).toMatchObject({
      handled: [
        { case: 'delayed_promoter', executionId: earlier.executionId },
        { case: 'delayed_promoter', executionId: later.executionId },
      ],
      oldestDueAt: dueAt,
      nextDueAt: clock.now() + 4_000,
    })
  })

  test('promotes what was delayed without changing what the next attempt is', async () => {
    const submitted = await given.delayedExecution({ delayMs: 1_000 })
    clock.advance(1_000)
    await fabric.duePass()

    expect(await fabric.look(submitted.executionId)).toMatchObject({
      state: { phase: 'eligible' },
      next: 'initial',
      changedAt: clock.now(),
    })
    expect(await given.eventTypesOf(submitted)).toEqual(['execution_created', 'execution_promoted'])
  })

  test('repeated, does each thing once', async () => {
    const abandoned = await given.activeExecution()
    const delayed = await given.delayedExecution({ delayMs: 1_000 })
    clock.advance(LEASE_TTL_MS)

    const passes = await Promise.all([fabric.duePass(), fabric.duePass()])

    expect(passes.flatMap((pass) => pass.handled)).toHaveLength(2)
    expect(await given.eventsOf(abandoned, 'lease_expired')).toHaveLength(1)
    expect(await given.eventsOf(delayed, 'execution_promoted')).toHaveLength(1)
  })

  test('looks at no more than it was asked to, and continues from there', async () => {
    await given.executions(25, () => ({ delayMs: 1_000 }))
    clock.advance(1_000)

    let next: Position | undefined
    const sizes: number[] = []
    do {
      const pass = await fabric.duePass({ limit: 10, from: next })
      sizes.push(pass.handled.length)
      next = pass.next
    } while (next !== undefined)

    expect(sizes).toEqual([10, 10, 5])
    expect(await given.readyOrder()).toHaveLength(25)
  })

  test('stops within the work of one operation and leaves the rest to the next call', async () => {
    await given.executions(DUE_SCAN_COUNT + 50, () => ({ delayMs: 1_000 }))
    clock.advance(1_000)

    let next: Position | undefined
    let handled = 0
    let calls = 0
    do {
      const pass = await fabric.duePass({ limit: 1_000, from: next })
      expect(pass.handled.length).toBeLessThanOrEqual(OPERATION_WORK_LIMIT)
      handled += pass.handled.length
      calls += 1
      next = pass.next
    } while (next !== undefined && calls < 20)

    expect(handled).toBe(DUE_SCAN_COUNT + 50)
    expect((await fabric.duePass()).handled).toEqual([])
  })

  test('touches only what the filter names, and gets past the rest', async () => {
    const others = await given.executions(12, () => ({ delayMs: 1_000, namespace: 'other' }))
    const mine = await given.delayedExecution({ delayMs: 2_000, namespace: 'mine' })
    clock.advance(2_000)

    const first = await fabric.duePass({ limit: 10, filter: { namespace: 'mine' } })
    const second = await fabric.duePass({ limit: 10, filter: { namespace: 'mine' }, from: first.next })

    expect(first.handled).toEqual([])
    expect(second.handled).toMatchObject([{ executionId: mine.executionId }])
    expect((await fabric.look(others[0]!.executionId)).state.phase).toBe('delayed')
  })

  test('filters by a tag, with or without an index', async () => {
    const tags = [{ name: 'instance', value: 'blue', indexed: false }]
    const mine = await given.delayedExecution({ delayMs: 1_000, tags })
    await given.delayedExecution({ delayMs: 1_000, tags: [{ name: 'instance', value: 'green', indexed: false }] })
    await given.delayedExecution({ delayMs: 1_000 })
    clock.advance(1_000)

    const pass = await fabric.duePass({ filter: { tag: { name: 'instance', value: 'blue' } } })

    expect(pass.handled).toMatchObject([{ executionId: mine.executionId }])
  })

  test('skips what its input excludes', async () => {
    const poisoned = await given.delayedExecution({ delayMs: 1_000 })
    const fine = await given.delayedExecution({ delayMs: 1_000 })
    clock.advance(1_000)

    const pass = await fabric.duePass({ skip: [poisoned.executionId] })

    expect(pass.handled).toMatchObject([{ executionId: fine.executionId }])
    expect((await fabric.look(poisoned.executionId)).state.phase).toBe('delayed')
  })

  test('where several timers have run out, the final one counts', async () => {
    const held = await given.activeExecution({
      attemptTimeoutMs: 1_000,
      totalTimeoutMs: 2_000,
      retry: fixedRetry(5, 0),
    })
    await fabric.run('cancelExecution', {
      executionId: held.executionId,
      reason: 'no',
      by: 'me',
      force: false,
      graceMs: 500,
    })
    clock.advance(LEASE_TTL_MS)

    expect((await fabric.duePass()).handled).toMatchObject([{ case: 'execution_deadline' }])
    expect((await fabric.look(held.executionId)).state).toMatchObject({ outcome: 'expired' })
  })

  test('a lost lease is not mistaken for a slow attempt', async () => {
    const held = await given.activeExecution({ attemptTimeoutMs: 1_000, retry: fixedRetry(5, 0) })
    clock.advance(LEASE_TTL_MS)

    expect((await fabric.duePass()).handled).toMatchObject([{ case: 'lease_expiry' }])
    expect(await fabric.look(held.executionId)).toMatchObject({ failureCount: 0, reclaimCount: 1 })
  })

  test('ended executions are never due', async () => {
    await given.endedExecution('completed', { totalTimeoutMs: 1_000, attemptTimeoutMs: 500 })
    clock.advance(10 * LEASE_TTL_MS)

    const { handled, nextDueAt } = await fabric.duePass()
    expect({ handled, nextDueAt }).toEqual({ handled: [], nextDueAt: undefined })
  })
})
