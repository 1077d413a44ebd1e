import { expect, test } from 'vitest'
import { TAG_COUNT_MAX } from '../../src/kernel/index.ts'
import { reachablePhases } from './given.ts'
import { conforms } from './harness.ts'

const indexed = (name: string, value: string) => ({ name, value, indexed: true })
const plain = (name: string, value: string) => ({ name, value, indexed: false })

conforms('setTags', ({ fabric, given }) => {
  test('adds, changes and removes in one step', async () => {
    const { executionId } = await given.eligibleExecution({
      tags: [plain('colour', 'blue'), plain('plan', 'pro'), indexed('team', 'red')],
    })

    const result = await fabric.run('setTags', {
      executionId,
      set: [plain('size', 'xl'), plain('plan', 'free')],
      remove: ['colour'],
    })

    const tags = [plain('plan', 'free'), plain('size', 'xl'), indexed('team', 'red')]
    expect(result).toEqual({ kind: 'set', tags })
    expect((await fabric.look(executionId)).tags).toEqual(tags)
    expect(await given.eventsOf({ executionId }, 'tags_set')).toMatchObject([
      { tags: ['plan', 'free', 'size', 'xl', 'team', 'red'] },
    ])
  })

  test('moves an execution from one value of an indexed tag to another', async () => {
    const { executionId } = await given.eligibleExecution({ tags: [indexed('team', 'red')] })
    await fabric.run('setTags', { executionId, set: [indexed('team', 'blue')], remove: [] })

    const listed = async (value: string) =>
      (await fabric.run('listExecutions', { tag: indexed('team', value), limit: 10 })).executions.length
    expect([await listed('red'), await listed('blue')]).toEqual([0, 1])
    await fabric.run('setTags', { executionId, set: [], remove: ['team'] })
    expect([await listed('red'), await listed('blue')]).toEqual([0, 0])
  })

  test.each(reachablePhases)('works while the execution is %s, and changes nothing else', async (phase) => {
    const { executionId } = await given.inPhase(phase)
    const before = await fabric.look(executionId)

    await fabric.run('setTags', { executionId, set: [indexed('team', 'red')], remove: [] })

    expect(await fabric.look(executionId)).toEqual({ ...before, tags: [indexed('team', 'red')] })
  })

  test('a name both removed and set is set', async () => {
    const { executionId } = await given.eligibleExecution({ tags: [plain('plan', 'pro')] })

    expect(await fabric.run('setTags', { executionId, set: [plain('plan', 'free')], remove: ['plan'] })).toMatchObject({
      tags: [plain('plan', 'free')],
    })
  })

  test('of what is so already, writes nothing', async () => {
    const { executionId } = await given.eligibleExecution({ tags: [plain('plan', 'pro')] })
    const before = await fabric.dump()

    await fabric.run('setTags', { executionId, set: [plain('plan', 'pro')], remove: ['unknown'] })
    await fabric.run('setTags', { executionId, set: [], remove: [] })

    expect(await fabric.dump()).toEqual(before)
  })

  test('beyond the number that an execution may have, is refused as a whole', async () => {
    const tags = Array.from({ length: TAG_COUNT_MAX }, (_, i) => plain(`tag-${i + 10}`, 'x'))
    const { executionId } = await given.eligibleExecution({ tags })
    const before = await fabric.dump()

    expect(await fabric.run('setTags', { executionId, set: [plain('one.more', 'x')], remove: [] })).toMatchObject({
      kind: 'refused',
      code: 'invalid_input',
      detail: { limit: TAG_COUNT_MAX },
    })
    expect(await fabric.dump()).toEqual(before)
    expect(
      await fabric.run('setTags', { executionId, set: [plain('one.more', 'x')], remove: ['tag-10'] }),
    ).toMatchObject({
      kind: 'set',
    })
  })

  test('keeps values of any text, the empty one included', async () => {
    const { executionId } = await given.eligibleExecution()
    const set = [plain('empty', ''), indexed('team', 'Ünïcode 😀'), plain('quote', '\'"')]
    await fabric.run('setTags', { executionId, set, remove: [] })

    expect((await fabric.look(executionId)).tags).toEqual([set[0], set[2], set[1]])
    expect(await fabric.run('listExecutions', { tag: set[1], limit: 10 })).toMatchObject({
      executions: [{ id: executionId }],
    })
  })
})
