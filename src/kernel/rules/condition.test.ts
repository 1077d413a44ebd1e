import { describe, expect, test } from 'vitest'
import type { ConditionNode, CountedNode, SignalSource } from '../model/journal-schema.ts'
import { joinName } from '../model/names.ts'
import { beginCounting, countSignal, isMet, targetsOf } from './condition.ts'

const ada: SignalSource = { type: 'token', identity: 'ada' }
const adaByProgram: SignalSource = { type: 'caller', identity: 'ada' }
const bob: SignalSource = { type: 'token', identity: 'bob' }

function leaf(fields: Partial<ConditionNode>): ConditionNode {
  return { kind: 'leaf', parent: undefined, need: 1, by: 'once', name: undefined, from: [], targets: ['w'], ...fields }
}

function group(need: number, parent?: number): ConditionNode {
  return { kind: 'group', parent, need, by: 'once', name: undefined, from: [], targets: [] }
}

function effects(nodes: CountedNode[], ...signals: readonly (readonly [SignalSource, string, string?])[]): string[] {
  return signals.map(([source, name, target = 'w']) => countSignal(nodes, { source, name, target }))
}

function hasOf(nodes: readonly CountedNode[]): number[] {
  return nodes.map(({ has }) => has)
}

describe('a leaf', () => {
  test('of distinct sources counts a person once, by a link or through a program', () => {
    const nodes = beginCounting([leaf({ by: 'sources', need: 2 })])

    expect(effects(nodes, [ada, 'yes'], [adaByProgram, 'yes'], [bob, 'yes'])).toEqual([
      'counted',
      'counted_before',
      'resumed',
    ])
  })

  test('of distinct sources distinguishes the engine from a person of the same name', () => {
    const nodes = beginCounting([leaf({ by: 'sources', need: 2 })])
    const engine: SignalSource = { type: 'engine', identity: 'ada' }

    expect(effects(nodes, [engine, 'yes'], [ada, 'yes'])).toEqual(['counted', 'resumed'])
    expect(nodes[0]?.seen).toEqual([joinName('engine', 'ada'), joinName('sender', 'ada')])
  })

  test('that one signal satisfies records no sender', () => {
    const nodes = beginCounting([group(2), leaf({ parent: 0, name: 'yes' }), leaf({ parent: 0, name: 'no' })])

    effects(nodes, [ada, 'yes'])
    expect(nodes.map(({ seen }) => seen)).toEqual([[], [], []])
  })

  test('counts nothing once it is satisfied', () => {
    const nodes = beginCounting([group(2), leaf({ parent: 0, name: 'yes' }), leaf({ parent: 0, name: 'no' })])

    expect(effects(nodes, [ada, 'yes'], [bob, 'yes'])).toEqual(['counted', 'counted_before'])
    expect(hasOf(nodes)).toEqual([1, 1, 0])
  })
})

describe('a leaf', () => {
  test('counts the signals of its targets, its name and its senders', () => {
    const nodes = (): CountedNode[] => beginCounting([leaf({ name: 'yes', from: ['ada'] })])

    expect(effects(nodes(), [ada, 'yes', 'elsewhere'], [ada, 'no'], [bob, 'yes'], [ada, 'yes'])).toEqual([
      'not_awaited',
      'not_awaited',
      'not_awaited',
      'resumed',
    ])
  })

  test('may count every signal, or one of each target', () => {
    const every = beginCounting([leaf({ by: 'signals', need: 2 })])
    const targets = beginCounting([leaf({ by: 'waitpoints', need: 2, targets: ['w', 'x'] })])

    expect(effects(every, [ada, 'yes'], [ada, 'yes'])).toEqual(['counted', 'resumed'])
    expect(effects(targets, [ada, 'yes', 'w'], [bob, 'yes', 'w'], [ada, 'yes', 'x'])).toEqual([
      'counted',
      'counted_before',
      'resumed',
    ])
  })
})

describe('a group', () => {
  test('counts each of its satisfied children once, and is counted once by its own group', () => {
    const nodes = beginCounting([
      group(2),
      group(1, 0),
      leaf({ parent: 1, name: 'a' }),
      leaf({ parent: 1, name: 'b' }),
      group(1, 0),
      leaf({ parent: 4, name: 'c' }),
    ])

    expect(effects(nodes, [ada, 'a'], [ada, 'b'], [ada, 'c'])).toEqual(['counted', 'counted', 'resumed'])
    expect(hasOf(nodes)).toEqual([2, 2, 1, 1, 1, 1])
  })

  test('is not counted before enough of its children are satisfied', () => {
    const nodes = beginCounting([group(1), group(2, 0), leaf({ parent: 1, name: 'a' }), leaf({ parent: 1, name: 'b' })])

    expect(effects(nodes, [ada, 'a'], [ada, 'b'])).toEqual(['counted', 'resumed'])
  })

  test('is never met without nodes', () => {
    expect(isMet([])).toBe(false)
  })
})

test('the targets of a condition are each named once, in the order of the nodes', () => {
  expect(targetsOf([group(2), leaf({ targets: ['b', 'a'] }), leaf({ targets: ['a', 'c'] })])).toEqual(['b', 'a', 'c'])
})

describe('exclusive leaves of a group', () => {
  const votes = { by: 'sources', need: 2, isExclusive: true } as const

  test('count a sender for one of them', () => {
    const nodes = beginCounting([
      group(1),
      leaf({ parent: 0, name: 'yes', ...votes }),
      leaf({ parent: 0, name: 'no', ...votes }),
    ])

    expect(effects(nodes, [ada, 'yes'], [ada, 'no'], [bob, 'no'])).toEqual(['counted', 'counted_before', 'counted'])
    expect(hasOf(nodes)).toEqual([0, 1, 1])
  })

  test('may count a sender that another leaf has counted', () => {
    const nodes = (): CountedNode[] =>
      beginCounting([
        group(1),
        leaf({ parent: 0, name: 'yes', ...votes, isExclusive: undefined }),
        leaf({ parent: 0, name: 'no', ...votes }),
      ])

    expect(effects(nodes(), [ada, 'yes'], [ada, 'no'])).toEqual(['counted', 'counted'])
    expect(effects(nodes(), [ada, 'no'], [ada, 'yes'])).toEqual(['counted', 'counted'])
  })

  test('leave the leaves of other groups alone', () => {
    const nodes = beginCounting([
      group(2),
      group(1, 0),
      leaf({ parent: 1, name: 'yes', ...votes }),
      group(1, 0),
      leaf({ parent: 3, name: 'no', ...votes }),
    ])

    expect(effects(nodes, [ada, 'yes'], [ada, 'no'])).toEqual(['counted', 'counted'])
  })
})

describe('a node that no signal satisfies', () => {
  test.each(['operator', 'timeout'] as const)('counts none: %s', (kind) => {
    const nodes = beginCounting([group(1), { ...leaf({ parent: 0 }), kind }])

    expect(effects(nodes, [ada, 'yes'])).toEqual(['not_awaited'])
    expect(hasOf(nodes)).toEqual([0, 0])
  })

  test.each(['operator', 'timeout'] as const)('is not met, even if it needs nothing: %s', (kind) => {
    expect(isMet(beginCounting([{ ...leaf({ need: 0 }), kind }]))).toBe(false)
  })
})
