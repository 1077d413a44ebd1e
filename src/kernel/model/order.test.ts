import fc from 'fast-check'
import { expect, test } from 'vitest'
import { compareKeyed, idsOf, mergeOrdered } from './order.ts'
import type { Keyed } from './order.ts'

const keyed: fc.Arbitrary<Keyed> = fc.record({
  score: fc.integer({ min: -3, max: 3 }),
  id: fc.constantFrom('a', 'B', 'b', 'c-1', 'c_1'),
})

function inOrder(list: readonly Keyed[]): Keyed[] {
  return [...list].sort(compareKeyed)
}

test('a lower score comes first, and among equal scores the id that is smaller by its bytes', () => {
  expect(compareKeyed({ score: 1, id: 'z' }, { score: 2, id: 'a' })).toBeLessThan(0)
  expect(compareKeyed({ score: 1, id: 'B' }, { score: 1, id: 'a' })).toBeLessThan(0)
  expect(compareKeyed({ score: 1, id: 'a' }, { score: 1, id: 'B' })).toBeGreaterThan(0)
  expect(compareKeyed({ score: 1, id: 'a' }, { score: 1, id: 'a' })).toBe(0)
})

test('the order is total: of two different keys exactly one comes first', () => {
  fc.assert(
    fc.property(keyed, keyed, (a, b) => {
      const isSame = a.score === b.score && a.id === b.id
      expect(Number(compareKeyed(a, b) < 0) + Number(compareKeyed(b, a) < 0)).toBe(isSame ? 0 : 1)
    }),
  )
})

test('merging ordered lists gives the first of their union, in order', () => {
  fc.assert(
    fc.property(
      fc.array(fc.array(keyed, { maxLength: 6 }).map(inOrder), { maxLength: 5 }),
      fc.nat(12),
      (lists, limit) => {
        expect(mergeOrdered(lists, limit)).toEqual(inOrder(lists.flat()).slice(0, limit))
      },
    ),
  )
})

test('of equal keys, the one of the first list comes first', () => {
  const [a, b, c] = ['a', 'b', 'c'].map((from) => ({ score: 1, id: 'x', from }))

  expect(mergeOrdered([[a!], [b!], [c!]], 3)).toEqual([a, b, c])
})

test('the ids of entries are in their order', () => {
  expect(idsOf([2, 1].map((score) => ({ index: 'i', score, id: `id-${score}` })))).toEqual(['id-2', 'id-1'])
})
