/** How long children are kept: as long as their parents, and after that as long as they ask for. */
import { expect, test } from 'vitest'
import { conforms } from './harness.ts'
import { RETENTION_MS, forcedCancel, permanentFailure } from './given.ts'

conforms('the retention of a child', ({ fabric, given, flows, children, clock }) => {
  async function purge(): Promise<void> {
    for (let page = 0; page < 50; page++) {
      const { next } = await fabric.run('purgeExecutions', {})
      if (next === undefined) return
    }
    throw new Error('there is always something to purge')
  }

  test('does not begin while its parent may read its result', async () => {
    const parent = await given.activeExecution({ retentionMs: 2 * RETENTION_MS })
    const [childId] = await children.started(parent, ['a'])
    await children.complete(childId!, new Uint8Array([1, 2]))
    await fabric.run('failExecution', { ...parent, ...permanentFailure })

    clock.advance(RETENTION_MS)
    await purge()

    expect(await given.purgeAt({ executionId: childId! })).toBeUndefined()
    const described = await fabric.reply('describeExecution', { executionId: childId!, result: true })
    expect(described.blobs).toEqual([new Uint8Array([1, 2])])
  })

  test('a child whose parent is removed is removed after its own retention', async () => {
    const parent = await given.activeExecution({ retentionMs: 1_000 })
    const [childId, runningId] = await children.started(parent, ['a', 'b'])
    await children.complete(childId!)
    await fabric.run('completeExecution', parent)
    clock.advance(1_000)
    await purge()

    expect(await fabric.exists(parent.executionId)).toBe(false)
    expect(await fabric.look(childId!)).toMatchObject({ parent: { isReleased: true } })
    expect(await fabric.look(runningId!)).toMatchObject({ parent: { isReleased: true }, state: { phase: 'eligible' } })
    await children.complete(runningId!)
    clock.advance(RETENTION_MS)
    await purge()
    expect([await fabric.exists(childId!), await fabric.exists(runningId!)]).toEqual([false, false])
  })

  test('hundreds of children are released page by page', async () => {
    const parent = await given.activeExecution({ retentionMs: 0 })
    for (let page = 0; page < 5; page++) {
      await children.started(
        parent,
        Array.from({ length: 40 }, (_, i) => `c${page}-${i}`),
      )
    }
    await fabric.run('completeExecution', parent)

    await purge()

    expect(await fabric.exists(parent.executionId)).toBe(false)
    const { records } = await fabric.dump()
    expect(records.filter((record) => record.type === 'step')).toEqual([])
    expect(records.filter((record) => record.type === 'execution' && record.parent?.isReleased === true)).toHaveLength(
      200,
    )
  })

  test('children of steps that a replay has cut are released by the sweep', async () => {
    const parent = await given.activeExecution()
    const [oldId] = await children.started(parent, ['a'])
    await children.complete(oldId!)
    await fabric.run('failExecution', { ...parent, ...permanentFailure })
    await fabric.run('replayExecution', { executionId: parent.executionId, requestId: 'r', from: { kind: 'start' } })

    await flows.drain()

    expect(await given.purgeAt({ executionId: oldId! })).toBe(clock.now() + RETENTION_MS)
    expect((await fabric.look(parent.executionId)).journal).toMatchObject({ childCount: 0, stepCount: 0 })
  })

  test('a replay from a step cuts the children after it', async () => {
    const parent = await given.activeExecution()
    const [first, second] = await children.started(parent, ['a', 'b'])
    await children.complete(first!)
    await children.complete(second!)
    await fabric.run('failExecution', { ...parent, ...permanentFailure })
    const from = { kind: 'step', name: 'b' } as const
    await fabric.run('replayExecution', { executionId: parent.executionId, requestId: 'r', from })
    await flows.drain()
    const again = await given.claimOf(parent)

    const ids = await children.started(again, ['a', 'b'])

    expect(ids[0]).toBe(first)
    expect(ids[1]).not.toBe(second)
  })

  test('a member that is removed with its flow releases its children, after their pending cancels', async () => {
    const graph = await flows.graph({ a: [] }, { flow: { retentionMs: 0 } })
    const parent = await graph.claim('a')
    const [childId] = await children.started(parent, ['x'])
    await fabric.run('cancelExecution', { executionId: parent.executionId, ...forcedCancel })

    await purge()

    expect(await fabric.exists(parent.executionId)).toBe(false)
    expect(await fabric.look(childId!)).toMatchObject({
      state: { phase: 'ended', outcome: 'cancelled', reason: 'parent_stopped' },
      parent: { isReleased: true },
    })
  })

  test('a released child that is a parent keeps its own children', async () => {
    const { parent, ids } = await children.waiting(['a'], { parent: { retentionMs: 0 } })
    const middle = await children.held(ids[0]!)
    const [leafId] = await children.started(middle, ['leaf'])
    await fabric.run('cancelExecution', { executionId: ids[0]!, ...forcedCancel })
    await fabric.run('completeExecution', await given.claimOf(parent))
    await flows.drain()

    await purge()

    expect(await fabric.exists(parent.executionId)).toBe(false)
    expect((await fabric.look(leafId!)).parent?.isReleased).toBeUndefined()
    expect((await fabric.look(ids[0]!)).parent?.isReleased).toBe(true)
  })
})
