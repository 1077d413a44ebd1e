/** When its retention is over, everything that an execution remembered goes with it, in as many calls as it takes. */
import { expect, test } from 'vitest'
import { forcedCancel, RETENTION_MS } from './given.ts'
import type { Held } from './given.ts'
import { conforms } from './harness.ts'
import { refusal } from './refusal.ts'

const PURGE_LIMIT = 100

conforms('the purge of what an execution remembers', ({ fabric, given, flows, journal, clock }) => {
  const fill = async (held: Held, count: number): Promise<void> => {
    const numbers = Array.from({ length: count }, (_, i) => i)
    for (const i of numbers) await journal.recordValue(held, `s${i}`, Uint8Array.of(i))
    await Promise.all(numbers.map((i) => journal.signal(held, `@m${i}`, { bytes: Uint8Array.of(i) })))
  }
  const isEmpty = async (): Promise<boolean> => {
    const { records, entries, blobKeys } = await fabric.dump()
    return records.length + entries.length + blobKeys.length === 0
  }
  /** How many calls it took. */
  const purge = async (): Promise<number> => {
    for (let calls = 1; calls <= PURGE_LIMIT; calls++) {
      if ((await fabric.run('purgeExecutions', {})).next === undefined) return calls
    }
    throw new Error('there is always something to purge')
  }

  test('leaves no record, no entry and no byte, also of waits, unused waitpoints and what was set aside', async () => {
    const held = await given.activeExecution({ bytes: Uint8Array.of(1) })
    const { executionId } = held
    await journal.open(held, 'unused')
    await journal.signal(held, 'unused', { bytes: Uint8Array.of(1) })
    await journal.recordValue(held, 'a', Uint8Array.of(1))
    await fabric.run('cancelExecution', { executionId, ...forcedCancel })
    await fabric.run('replayExecution', { executionId, requestId: given.requestId(), from: { kind: 'start' } })
    const next = await given.claimOf(held)
    await journal.wait(next, { timeoutMs: 1_000 })
    await fabric.run('cancelExecution', { executionId, ...forcedCancel })
    clock.advance(RETENTION_MS)
    await purge()

    expect(await isEmpty()).toBe(true)
  })

  test('takes several calls for much, returns what is left in each, and rules out a replay from the first on', async () => {
    const held = await given.activeExecution({}, { leaseTtlMs: 600_000 })
    await fill(held, 120)
    await fabric.run('completeExecution', held)
    clock.advance(RETENTION_MS)
    const first = await fabric.run('purgeExecutions', {})

    expect(first).toMatchObject({ purged: [], next: { score: 0 } })
    const { executionId } = held
    const replay = () => fabric.run('replayExecution', { executionId, requestId: given.requestId() })
    expect((await refusal(fabric, replay)).code).toBe('retention_over')
    expect(await purge()).toBeGreaterThan(2)
    expect(await isEmpty()).toBe(true)
    expect(await given.eventsOf(held, 'execution_purged')).toHaveLength(1)
  })

  test('does not begin before the retention is over, and a suspended execution has none', async () => {
    const held = await given.activeExecution()
    await journal.record(held, 'a')
    await fabric.run('completeExecution', held)
    const waiting = await journal.waiting()
    clock.advance(RETENTION_MS - 1)
    expect(await fabric.run('purgeExecutions', {})).toMatchObject({ purged: [] })
    expect(await journal.views(held)).toHaveLength(1)
    clock.advance(RETENTION_MS)
    expect(await fabric.run('purgeExecutions', {})).toMatchObject({ purged: [held.executionId] })
    expect((await fabric.look(waiting.executionId)).state.phase).toBe('suspended')
  })

  test('one that was begun can still be replaced, and the rest of the old goes in the background', async () => {
    const held = await given.activeExecution({}, { leaseTtlMs: 600_000 })
    await fill(held, 60)
    await fabric.run('completeExecution', held)
    clock.advance(RETENTION_MS)
    await fabric.run('purgeExecutions', {})

    expect(await given.submit({ executionId: held.executionId, ifExists: 'replace' })).toMatchObject({
      kind: 'replaced',
    })
    await flows.drain()
    const { records, blobKeys } = await fabric.dump()
    expect(records.map(({ type }) => type).sort()).toEqual(['execution', 'queue'])
    expect(blobKeys).toEqual([])
    await journal.record(await given.claimOf(held), 'a')
  })

  test('lives that were never swept go as well', async () => {
    const held = await given.activeExecution({}, { leaseTtlMs: 600_000 })
    await fill(held, 10)
    await fabric.run('completeExecution', held)
    await given.submit({ executionId: held.executionId, ifExists: 'replace' })
    await fabric.run('cancelExecution', { executionId: held.executionId, ...forcedCancel })
    clock.advance(RETENTION_MS)
    await purge()

    expect(await isEmpty()).toBe(true)
  })

  test('of a flow takes what all its members remember', async () => {
    const graph = await flows.graph({ a: [], b: [] })
    for (const name of ['a', 'b']) {
      const held = await graph.claim(name)
      await fill(held, 40)
      await graph.complete(name)
    }
    clock.advance(RETENTION_MS)
    await purge()

    expect(await isEmpty()).toBe(true)
  })
})
