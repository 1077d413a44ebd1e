import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { mergePatch } from './merge-patch.ts'

/** The examples of RFC 7396, appendix A. */
const vectors: readonly (readonly [document: unknown, patch: unknown, merged: unknown])[] = [
  [{ a: 'b' }, { a: 'c' }, { a: 'c' }],
  [{ a: 'b' }, { b: 'c' }, { a: 'b', b: 'c' }],
  [{ a: 'b' }, { a: null }, {}],
  [{ a: 'b', b: 'c' }, { a: null }, { b: 'c' }],
  [{ a: ['b'] }, { a: 'c' }, { a: 'c' }],
  [{ a: 'c' }, { a: ['b'] }, { a: ['b'] }],
  [{ a: { b: 'c' } }, { a: { b: 'd', c: null } }, { a: { b: 'd' } }],
  [{ a: [{ b: 'c' }] }, { a: [1] }, { a: [1] }],
  [
    ['a', 'b'],
    ['c', 'd'],
    ['c', 'd'],
  ],
  [{ a: 'b' }, ['c'], ['c']],
  [{ a: 'foo' }, null, null],
  [{ a: 'foo' }, 'bar', 'bar'],
  [{ e: null }, { a: 1 }, { e: null, a: 1 }],
  [[1, 2], { a: 'b', c: null }, { a: 'b' }],
  [{}, { a: { bb: { ccc: null } } }, { a: { bb: {} } }],
  // An empty object changes nothing, and an empty array replaces.
  [{ a: { b: 1 } }, { a: {} }, { a: { b: 1 } }],
  [{ a: { b: 1 } }, { a: [] }, { a: [] }],
  [{}, { big: 9_007_199_254_740_991, small: 0.1 }, { big: 9_007_199_254_740_991, small: 0.1 }],
]

describe('a merge patch', () => {
  test.each(vectors)('%j merged with %j is %j', (document, patch, merged) => {
    const before = JSON.stringify([document, patch])

    expect(mergePatch(document, patch)).toEqual(merged)
    expect(JSON.stringify([document, patch])).toBe(before)
  })

  test('of a field that looks like a part of an object is a field', () => {
    const patch = JSON.parse('{"__proto__": {"polluted": true}, "constructor": 1}') as unknown

    const merged = mergePatch({}, patch) as object

    expect(JSON.stringify(merged)).toBe('{"__proto__":{"polluted":true},"constructor":1}')
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined()
  })

  test('applied twice is the same as once, and leaves no null of its own objects', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (document, patch) => {
        const once = mergePatch(document, patch)
        expect(mergePatch(once, patch)).toEqual(once)
      }),
    )
  })
})
