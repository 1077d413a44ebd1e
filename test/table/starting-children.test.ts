import { describe, expect, test } from 'vitest'
import { CHILD_JOIN_MAX, CHILD_MAX, CHILD_START_MAX, TAG_COUNT_MAX } from '../../src/kernel/limits.ts'
import type { ChildInput, ExecutionId, OperationInput, Step, Tag } from '../../src/kernel/index.ts'
import { scopeOf, stepIdIn, stepKey } from '../../src/kernel/rules/journal-ids.ts'
import { HeldPartition } from './held-partition.ts'
import { idOf } from './partition.ts'
import { storedEvents, storedRecord } from './trials/memory.ts'
import { submitWithoutPayload } from './trials/world.ts'

type StartInput = OperationInput<'startChildren'>

const CHILD_CLASS = 'child'
const anyOf = (total: number, offset = 0) =>
  ({ name: 'any', policy: 'quorum', need: 1, losers: 'let_run', total, offset }) as const

function child(name: string, number: number, fields: Partial<ChildInput> = {}, tags: readonly Tag[] = []): ChildInput {
  const create = submitWithoutPayload(`child-${number}`)
  return {
    name,
    create: { ...create, executionId: idOf(number), key: undefined, task: 'child', class: CHILD_CLASS, tags },
    ...fields,
  }
}

function tagsNamed(from: number, count: number): Tag[] {
  return Array.from({ length: count }, (_, i) => ({ name: `t${from + i}`, value: 'x', indexed: false }))
}

function start(partition: HeldPartition, children: readonly ChildInput[], more: Partial<StartInput> = {}) {
  const result = partition.run('startChildren', { ...partition.held, children, ...more })
  return result.kind === 'refused' ? [result.code, result.detail] : result
}

/** The ids of the children that a call returns, and whether it has started them. */
function started(partition: HeldPartition, children: readonly ChildInput[], more: Partial<StartInput> = {}): unknown {
  const result = partition.run('startChildren', { ...partition.held, children, ...more })
  if (result.kind === 'refused') return [result.code, (result.detail as { limit?: number }).limit]
  return result.kind === 'started' ? result.children.map((one) => [one.executionId, one.isNew]) : result.kind
}

function stepOf({ world, held }: HeldPartition, name: string, kind: Step['kind'] = 'child'): Step {
  const execution = storedRecord(world.memory, 'execution', held.executionId)!
  return storedRecord(world.memory, 'step', stepIdIn(scopeOf(execution.id, execution.journal), stepKey(kind, name)))!
}

function completeChild(partition: HeldPartition): ExecutionId {
  const held = partition.hold({ queues: [{ lane: 'main', class: CHILD_CLASS }] })
  partition.run('completeExecution', held)
  return held.executionId
}

function nextRound(partition: HeldPartition): void {
  const { journal } = partition.execution(partition.held.executionId)
  partition.change({ round: (journal?.round ?? 0) + 1 })
}

describe('a page of children is refused', () => {
  test.each<[string, readonly ChildInput[], Partial<StartInput>, object]>([
    ['with a name twice', [child('a', 10), child('a', 11)], {}, {}],
    ['with an id twice', [child('a', 10), child('b', 10)], {}, {}],
    ['that ends a join without one', [child('a', 10)], { park: true }, {}],
    [
      'with more than may start at once',
      Array.from({ length: CHILD_START_MAX + 1 }, (_, i) => child(`c${i}`, 10 + i)),
      {},
      { limit: CHILD_START_MAX },
    ],
    [
      'with a child of too many tags',
      [child('a', 10), child('b', 11, {}, tagsNamed(0, TAG_COUNT_MAX + 1))],
      {},
      { limit: TAG_COUNT_MAX, step: 'b' },
    ],
    ['with a quorum that cannot be reached', [child('a', 10)], { join: { ...anyOf(1), need: 2 } }, { limit: 1 }],
  ])('%s', (_what, children, more, detail) => {
    const partition = new HeldPartition()

    expect(start(partition, children, more)).toEqual([
      'invalid_input',
      expect.objectContaining({ executionId: partition.held.executionId, ...detail }),
    ])
    expect(partition.exists(idOf(10))).toBe(false)
  })

  test('not with as many tags as an execution may have, those of the parent included', () => {
    const partition = new HeldPartition()
    const inheritTags = ['plan', 'team', 'absent']

    expect(started(partition, [child('a', 10, { inheritTags }, tagsNamed(0, TAG_COUNT_MAX - 2))])).toEqual([
      [idOf(10), true],
    ])
    expect(start(partition, [child('b', 11, { inheritTags }, tagsNamed(0, TAG_COUNT_MAX - 1))])).toMatchObject([
      'invalid_input',
      { limit: TAG_COUNT_MAX },
    ])
    expect(partition.execution(idOf(10)).tags).toHaveLength(TAG_COUNT_MAX)
  })
})

describe('children are limited in number', () => {
  const tooMany = ['child_limit_exceeded', CHILD_MAX]

  test('for an execution', () => {
    const partition = new HeldPartition({ childCount: CHILD_MAX - 1, stepCount: CHILD_MAX })

    expect(started(partition, [child('a', 10), child('b', 11)])).toEqual(tooMany)
    expect(started(partition, [child('a', 10)])).toEqual([[idOf(10), true]])
    expect(started(partition, [child('b', 11)])).toEqual(tooMany)
    expect(started(partition, [child('a', 12)])).toEqual([[idOf(10), false]])
  })

  test('and may be twice as many while cut ones wait for their removal', () => {
    const cut = { cuts: [{ from: 0, to: 1 }], nextPosition: 1, stepCount: 2 * CHILD_MAX }
    const partition = new HeldPartition({ ...cut, childCount: 2 * CHILD_MAX - 1 })

    expect(started(partition, [child('a', 10), child('b', 11)])).toEqual(tooMany)
    expect(started(partition, [child('a', 10)])).toEqual([[idOf(10), true]])
  })
})

describe('a child', () => {
  test('knows its parent, its depth and its join', () => {
    const partition = new HeldPartition()
    start(partition, [child('a', 10)])
    start(partition, [child('b', 11), child('c', 12, { isDetached: true })], { join: anyOf(2) })
    const parentOf = (number: number) => partition.execution(idOf(number)).parent

    expect(parentOf(10)).toMatchObject({ executionId: idOf(1), name: 'a', depth: 1, join: undefined })
    expect(parentOf(10)?.isDetached).toBeUndefined()
    expect(parentOf(11)).toMatchObject({ name: 'b', depth: 1, join: stepKey('join', 'any') })
    expect(parentOf(12)).toMatchObject({ name: 'c', depth: 0, isDetached: true })
    expect(stepOf(partition, 'a').child).toMatchObject({ executionId: idOf(10), isDetached: undefined })
    expect([stepOf(partition, 'a').attemptCount, stepOf(partition, 'c').state.phase]).toEqual([1, 'completed'])
    expect(partition.execution(idOf(10)).tags).toEqual([])
  })

  test('of the same name is started once, and its result counts', () => {
    const partition = new HeldPartition()
    start(partition, [child('a', 10)])
    completeChild(partition)

    expect(start(partition, [child('a', 11)])).toMatchObject({
      kind: 'started',
      children: [
        { executionId: idOf(10), isNew: false, outcome: 'completed', position: stepOf(partition, 'a').position },
      ],
      join: undefined,
    })
    expect(partition.exists(idOf(11))).toBe(false)
  })

  test('that runs is taken over by a later round, which gets its result', () => {
    const partition = new HeldPartition()
    start(partition, [child('a', 10)])
    nextRound(partition)

    expect(started(partition, [child('a', 11)])).toEqual([[idOf(10), false]])
    expect(stepOf(partition, 'a').child?.round).toBe(partition.execution(idOf(1)).journal?.round)
  })

  test('that is being cancelled is left to its round, and a later one starts another', () => {
    const partition = new HeldPartition()
    start(partition, [child('a', 10)])
    const held = partition.hold({ queues: [{ lane: 'main', class: CHILD_CLASS }] })
    const cancel = { reason: '', by: '', force: false, graceMs: 1_000 }
    partition.run('cancelExecution', { ...cancel, executionId: held.executionId })

    expect(started(partition, [child('a', 11)])).toEqual([[idOf(10), false]])
    nextRound(partition)
    partition.change({ childCount: CHILD_MAX })
    expect(started(partition, [child('a', 12)])).toEqual([[idOf(12), true]])
    expect(stepOf(partition, 'a')).toMatchObject({ attemptCount: 2, child: { executionId: idOf(12) } })
    expect(partition.execution(idOf(1)).journal?.childCount).toBe(CHILD_MAX)
  })

  test('that is claimed and not cancelled is taken over', () => {
    const partition = new HeldPartition()
    start(partition, [child('a', 10)])
    partition.hold({ queues: [{ lane: 'main', class: CHILD_CLASS }] })
    nextRound(partition)

    expect(started(partition, [child('a', 11)])).toEqual([[idOf(10), false]])
  })

  test('whose id is taken is refused', () => {
    const partition = new HeldPartition()

    expect(
      start(partition, [{ ...child('a', 10), create: { ...child('a', 10).create, executionId: idOf(1) } }]),
    ).toEqual(['execution_exists', { executionId: idOf(1) }])
  })
})

describe('a join', () => {
  test('counts a child by its place in the list of the handler', () => {
    const partition = new HeldPartition()
    start(partition, [child('a', 10), child('b', 11)])
    completeChild(partition)

    const page = [child('a', 12), child('b', 13)]
    expect(start(partition, page, { join: anyOf(7, 5), park: true })).toMatchObject({
      kind: 'started',
      join: { verdict: 'satisfied', completed: 1, winners: [5] },
    })
  })

  test('of several pages is stored until its last one', () => {
    const partition = new HeldPartition()

    expect(start(partition, [child('a', 10)], { join: anyOf(2) })).toMatchObject({ join: { verdict: 'pending' } })
    completeChild(partition)
    expect(start(partition, [child('b', 11)], { join: anyOf(2, 1), park: true })).toMatchObject({
      join: { verdict: 'satisfied', completed: 1, winners: [0] },
    })
  })

  test('keeps what its first pages have counted', () => {
    const partition = new HeldPartition()
    start(partition, [child('a', 10)])
    completeChild(partition)
    start(partition, [child('a', 11)], { join: anyOf(2) })

    expect(start(partition, [child('b', 12)], { join: anyOf(2, 1), park: true })).toMatchObject({
      join: { completed: 1, winners: [0] },
    })
  })

  test('of children that were started before comes in pages, too', () => {
    const partition = new HeldPartition()
    start(partition, [child('a', 10), child('b', 11)])
    completeChild(partition)
    const { offset: _, ...any } = anyOf(2)
    const join = (name: string, offset: number, isLast: boolean) =>
      partition.run('joinChildren', { ...partition.held, ...any, children: [name], offset, isLast })

    expect(join('a', 0, false)).toEqual({ kind: 'joining' })
    expect(join('b', 1, true)).toMatchObject({ kind: 'decided', join: { completed: 1, winners: [0] } })
    expect(join('a', 0, false)).toEqual({ kind: 'joining' })
    expect(join('b', 1, true)).toMatchObject({ kind: 'decided', join: { completed: 1 } })
    expect(storedEvents(partition.world.memory, 0).at(-1)).toMatchObject({
      step: 'any',
      effect: 'satisfied',
      attempt: 1,
    })
  })

  test('says what it cannot wait for', () => {
    const partition = new HeldPartition()
    start(partition, [child('a', 10)])
    const { offset: _, ...any } = anyOf(2)
    const join = (children: readonly string[], more: object = {}) => {
      const input = { ...partition.held, ...any, children, offset: 0, isLast: true, ...more }
      const result = partition.run('joinChildren', input)
      return result.kind === 'refused' ? [result.code, result.detail] : result.kind
    }
    const executionId = idOf(1)
    const names = Array.from({ length: CHILD_JOIN_MAX + 1 }, (_, i) => `c${i}`)

    expect(join(['a', 'absent'])).toEqual(['step_not_found', { executionId, step: 'absent' }])
    expect(join(['a', 'a'])).toEqual(['invalid_input', { executionId, step: 'a' }])
    expect(join(names)).toEqual(['invalid_input', { executionId, limit: CHILD_JOIN_MAX }])
    expect(join(['a'], { need: CHILD_MAX + 1, total: 2 * CHILD_MAX })).toEqual([
      'invalid_input',
      { executionId, limit: CHILD_MAX },
    ])
    expect(join(['a'], { need: CHILD_MAX, total: 2 * CHILD_MAX, isLast: false })).toBe('joining')
  })

  test('that another lease begins again takes children over into its round', () => {
    const partition = new HeldPartition()
    start(partition, [child('a', 10)], { join: anyOf(2) })
    const { offset: _, ...any } = anyOf(1)
    nextRound(partition)
    const join = { ...partition.held, ...any, children: ['a'], offset: 0, isLast: false }

    expect(partition.run('joinChildren', join)).toEqual({ kind: 'joining' })
    const { round } = partition.execution(idOf(1)).journal!
    expect(stepOf(partition, 'a').child).toMatchObject({ round, mark: { ordinal: 0 } })
    expect(stepOf(partition, 'any', 'join')).toMatchObject({ attemptCount: 2, join: { round, total: 1 } })
  })

  test('that was decided starts no more children', () => {
    const partition = new HeldPartition()
    start(partition, [child('a', 10)])
    completeChild(partition)
    start(partition, [child('a', 10)], { join: anyOf(2), park: true })

    expect(started(partition, [child('a', 10), child('late', 11)], { join: anyOf(2), park: true })).toEqual([
      [idOf(10), false],
      [undefined, false],
    ])
    expect(partition.exists(idOf(11))).toBe(false)
  })

  test('without children that have ended suspends the execution', () => {
    const partition = new HeldPartition()

    expect(started(partition, [child('a', 10)], { join: anyOf(1), park: true })).toBe('suspended')
    expect(started(partition, [child('a', 10)], { join: anyOf(1), park: true })).toBe('already_suspended')
  })
})

test('after a cancel, only the first child gives its parent more time to undo it', () => {
  const partition = new HeldPartition()
  const forceAt = () => {
    const { state } = partition.execution(idOf(1))
    return state.phase === 'active' ? state.cancel?.forceAt : undefined
  }
  partition.run('cancelExecution', { executionId: idOf(1), reason: '', by: '', force: false, graceMs: 1 })
  const atFirst = forceAt() ?? 0
  start(partition, [child('a', 10)])
  const afterChild = forceAt() ?? 0
  partition.advance(100)
  start(partition, [child('b', 11)])
  partition.run('registerCompensation', { ...partition.held, count: 1 })

  expect(afterChild).toBeGreaterThan(atFirst)
  expect(forceAt()).toBe(afterChild)
})

test('a call without children has no effect to undo', () => {
  const partition = new HeldPartition()
  start(partition, [])
  expect(partition.execution(idOf(1)).journal?.hasCompletedSteps).not.toBe(true)

  start(partition, [child('a', 10)])
  expect(partition.execution(idOf(1)).journal?.hasCompletedSteps).toBe(true)
})
