import { expect, test } from 'vitest'
import { PRIORITY_MAX } from '../../src/kernel/index.ts'
import { reachablePhases } from './given.ts'
import { conforms } from './harness.ts'

conforms('changePriority', ({ fabric, given, clock }) => {
  test('moves a waiting execution within its queue', async () => {
    const [first, second, third] = await given.executions(3)

    expect(await fabric.run('changePriority', { ...third!, priority: 7 })).toEqual({ kind: 'changed', from: 0, to: 7 })

    expect(await given.readyOrder()).toEqual([third, first, second].map((one) => one!.executionId))
  })

  test('among equals keeps the order of creation, not of the change', async () => {
    const older = await given.eligibleExecution()
    clock.advance(5)
    const younger = await given.eligibleExecution()
    await fabric.run('changePriority', { ...younger, priority: PRIORITY_MAX })
    clock.advance(5)
    await fabric.run('changePriority', { ...older, priority: PRIORITY_MAX })

    expect(await given.readyOrder()).toEqual([older.executionId, younger.executionId])
  })

  test.each(reachablePhases.filter((phase) => phase !== 'ended'))(
    'is stored while the execution is %s',
    async (phase) => {
      const { executionId } = await given.inPhase(phase, { priority: 2 })
      const before = await fabric.look(executionId)

      expect(await fabric.run('changePriority', { executionId, priority: 9 })).toEqual({
        kind: 'changed',
        from: 2,
        to: 9,
      })

      expect(await fabric.look(executionId)).toEqual({ ...before, priority: 9 })
      expect(await given.eventsOf({ executionId }, 'priority_changed')).toMatchObject([{ priority: 9 }])
    },
  )

  test('of a running execution counts when it comes back to its queue', async () => {
    const held = await given.activeExecution()
    const other = await given.eligibleExecution({ priority: 3 })
    await fabric.run('changePriority', { executionId: held.executionId, priority: 5 })
    await fabric.run('releaseExecution', { ...held, reason: 'shutdown' })

    expect(await given.readyOrder()).toEqual([held.executionId, other.executionId])
  })

  test('to what it is already, writes nothing', async () => {
    const { executionId } = await given.eligibleExecution({ priority: 2 })
    const before = await fabric.dump()

    expect(await fabric.run('changePriority', { executionId, priority: 2 })).toEqual({
      kind: 'unchanged',
      from: 2,
      to: 2,
    })
    expect(await fabric.dump()).toEqual(before)
  })

  test('of an ended execution is refused', async () => {
    const { executionId } = await given.endedExecution('completed')
    const before = await fabric.dump()

    expect(await fabric.run('changePriority', { executionId, priority: 2 })).toMatchObject({ code: 'execution_ended' })
    expect(await fabric.dump()).toEqual(before)
  })
})
