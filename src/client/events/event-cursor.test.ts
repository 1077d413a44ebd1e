import { expect, test } from 'vitest'
import { decodeCursor, encodeCursor } from './event-cursor.ts'

test.each([[[0]], [[1, 35, 36, 4_000_000_000]], [Array.from({ length: 32 }, (_, i) => i * 1_000)]])(
  'positions %j survive',
  (sequences) => {
    const positions = sequences.map((sequence, i) => ({ sequence, mark: i % 2 === 0 ? undefined : 2 ** 32 - i }))
    expect(decodeCursor(encodeCursor(positions), positions.length)).toEqual(positions)
  },
)

test('a cursor without marks is read', () => {
  expect(decodeCursor('e1.5.a', 2)).toEqual([{ sequence: 5 }, { sequence: 10 }])
})

test.each([
  '',
  'e1',
  'e1.',
  'e1.a.b',
  'e3.a',
  'e2.a-',
  'e2.a-b-c',
  'e1.a-b',
  'e1.-1',
  'e1.zzzzzzzzzzzz',
  'e1.A',
  'l1.a.b',
])('%j is no cursor of a store with one partition', (cursor) => {
  expect(() => decodeCursor(cursor, 1)).toThrow(expect.objectContaining({ code: 'invalid_cursor' }) as Error)
})
