import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Tag } from '../model/records.ts'
import { areSameTags, mergeTags } from './tags.ts'

function tag(name: string, value = 'v'): Tag {
  return { name, value, indexed: false }
}

describe('merging tags', () => {
  test('adds, changes and removes', () => {
    expect(mergeTags([tag('a'), tag('b'), tag('c')], [tag('b', 'new'), tag('d')], ['c'])).toEqual([
      tag('a'),
      tag('b', 'new'),
      tag('d'),
    ])
  })

  test('keeps a tag that is removed and set at once', () => {
    expect(mergeTags([tag('a', 'old')], [tag('a', 'new')], ['a'])).toEqual([tag('a', 'new')])
  })

  test('of one name given twice keeps the last', () => {
    expect(mergeTags([], [tag('a', '1'), tag('a', '2')], [])).toEqual([tag('a', '2')])
  })

  test('removes nothing that is not there', () => {
    expect(mergeTags([tag('a')], [], ['z'])).toEqual([tag('a')])
  })

  test('comes to the same list whatever the order in which tags were given', () => {
    const tags = fc.uniqueArray(
      fc.constantFrom('a', 'B', 'b', 'a.b', 'a-b', 'z').map((name) => tag(name)),
      {
        selector: ({ name }) => name,
      },
    )
    fc.assert(
      fc.property(tags, (given) => {
        expect(mergeTags([], given, [])).toEqual(mergeTags([], [...given].reverse(), []))
      }),
    )
  })

  test('leaves what it was given alone', () => {
    const current = [tag('a')]
    const merged = mergeTags(current, [], [])
    merged[0]!.value = 'changed'

    expect(current).toEqual([tag('a')])
  })
})

describe('equal tags', () => {
  const tags = [tag('a'), tag('b')]

  test('have equal names, values and marks, in the same order', () => {
    expect(areSameTags(tags, [tag('a'), tag('b')])).toBe(true)
    expect(areSameTags([], [])).toBe(true)
  })

  test.each<[string, Tag[]]>([
    ['one less', [tag('a')]],
    ['one more', [tag('a'), tag('b'), tag('c')]],
    ['another name', [tag('a'), tag('c')]],
    ['another value', [tag('a', 'w'), tag('b')]],
    ['another mark', [tag('a'), { ...tag('b'), indexed: true }]],
    ['another order', [tag('b'), tag('a')]],
  ])('differ by %s', (_what, others) => {
    expect(areSameTags(tags, others)).toBe(false)
    expect(areSameTags(others, tags)).toBe(false)
  })
})
