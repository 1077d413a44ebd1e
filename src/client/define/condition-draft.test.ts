import { expect, test } from 'vitest'
import {
  CONDITION_DEPTH_MAX,
  CONDITION_NEED_MAX,
  CONDITION_NODE_MAX,
  CONDITION_SOURCE_MAX,
} from '../../kernel/index.ts'
import { checkSenders, flattenCondition, singleLeaf } from './condition-draft.ts'
import type { ConditionDraft, LeafDraft } from './condition-draft.ts'

const leaf: LeafDraft = singleLeaf('@paid', 'paid')

function every(...parts: ConditionDraft[]): ConditionDraft {
  return { kind: 'group', need: parts.length, parts }
}

function nested(depth: number): ConditionDraft {
  return depth === 0 ? leaf : every(nested(depth - 1))
}

test('every node stands behind its parent, the root first', () => {
  const either: ConditionDraft = { kind: 'group', need: 1, parts: [leaf, singleLeaf('door', undefined, ['ada'])] }

  expect(flattenCondition(every(either, leaf))).toEqual([
    { kind: 'group', parent: undefined, need: 2, by: 'once', name: undefined, from: [], targets: [] },
    { kind: 'group', parent: 0, need: 1, by: 'once', name: undefined, from: [], targets: [] },
    { kind: 'leaf', parent: 1, need: 1, by: 'once', name: 'paid', from: [], targets: ['@paid'] },
    { kind: 'leaf', parent: 1, need: 1, by: 'once', name: undefined, from: ['ada'], targets: ['door'] },
    { kind: 'leaf', parent: 0, need: 1, by: 'once', name: 'paid', from: [], targets: ['@paid'] },
  ])
})

test('groups nest up to the limit, and leaves add no depth', () => {
  expect(flattenCondition(nested(CONDITION_DEPTH_MAX))).toHaveLength(CONDITION_DEPTH_MAX + 1)
  expect(() => flattenCondition(nested(CONDITION_DEPTH_MAX + 1))).toThrow(
    'it is 5 levels deep, but at most 4 are allowed (at [0][0][0][0])',
  )
})

test.each<[string, ConditionDraft]>([
  ['it has no parts, so nothing could meet it: name at least one (at [1])', every(leaf, every())],
  [
    `it needs 0, but that must be a whole number from 1 to ${CONDITION_NEED_MAX} (at <root>)`,
    { ...leaf, by: 'signals', need: 0 },
  ],
  ['it needs 1.5', { ...leaf, by: 'signals', need: 1.5 }],
  [`it needs ${CONDITION_NEED_MAX + 1}`, { ...leaf, by: 'signals', need: CONDITION_NEED_MAX + 1 }],
  [`it needs ${CONDITION_SOURCE_MAX + 1}`, { ...leaf, by: 'sources', need: CONDITION_SOURCE_MAX + 1 }],
  ['it names no place to look at: name at least one (at [0])', every({ ...leaf, targets: [] })],
  ['it names "door" twice: once is enough', { ...leaf, targets: ['door', 'gate', 'door'] }],
  ['it needs 2 of 1 places, which can never be', { ...leaf, by: 'waitpoints', need: 2 }],
  ['it needs 3 of 2 senders, which can never be', { ...leaf, by: 'sources', need: 3, from: ['ada', 'bob'] }],
  ['at most 63 are allowed (at <root>)', every(...Array.from({ length: CONDITION_NODE_MAX }, () => leaf))],
  [
    'it has 65 parts, but at most 64 are allowed (at <root>)',
    every(...Array.from({ length: 2 }, () => every(...Array.from({ length: 31 }, () => leaf)))),
  ],
  [
    'its parts need 101 signals together, but at most 100 are allowed: need fewer, or wait several times (at <root>)',
    every({ ...leaf, by: 'signals', need: 60 }, every({ ...leaf, by: 'signals', need: 40 }, leaf)),
  ],
  [
    'it looks at 65 places, but at most 64 are allowed',
    { ...leaf, by: 'waitpoints', targets: Array.from({ length: 65 }, (_, i) => `door-${i}`) },
  ],
])('what could never be met, or is too large, is refused: %s', (text, draft) => {
  expect(() => flattenCondition(draft)).toThrow(text)
})

test('the signals that all parts need are limited, and groups add none', () => {
  const half: LeafDraft = { ...leaf, by: 'signals', need: CONDITION_NEED_MAX / 2 }

  expect(flattenCondition(every(every(half), every(half)))).toHaveLength(5)
})

test('senders are named, each once, and not too many', () => {
  expect(checkSenders(['ada', 'bob'], 'of')).toEqual(['ada', 'bob'])
  expect(() => checkSenders([], 'of')).toThrow('of is empty, so no signal would count')
  expect(() => checkSenders(['ada', 'ada'], 'of')).toThrow('of names "ada" twice')
  expect(() => checkSenders([''], 'of')).toThrow('of[0] is ""')
  expect(() => checkSenders('ada', 'of')).toThrow('of is "ada", but must be a list')
  expect(() =>
    checkSenders(
      Array.from({ length: CONDITION_SOURCE_MAX + 1 }, (_, i) => `voter-${i}`),
      'of',
    ),
  ).toThrow('of names 101, but at most 100 are allowed')
})
