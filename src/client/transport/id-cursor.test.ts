import { expect, test } from 'vitest'
import { idCursor, positionCursor } from './id-cursor.ts'

const ids = idCursor('k1')
const positions = positionCursor('g1')

test('a cursor has any id and score', () => {
  for (const id of ['a/b', 'ä 🐝', '.']) {
    expect(ids.decode(ids.encode(id))).toBe(id)
    for (const score of [-3, 0, 1_700_000_000_000]) {
      expect(positions.decode(positions.encode({ score, id }))).toEqual({ score, id })
    }
  }
})

test.each(['', 'k1.', 'k2.YQ', `k1.${Buffer.from('a\0').toString('base64url')}`, 7])('%j is no cursor', (cursor) => {
  expect(() => ids.decode(cursor)).toThrow(expect.objectContaining({ code: 'invalid_cursor' }))
})

test('a score that is no exact number is no position', () => {
  expect(() => positions.decode('g1.9999999999999999.YQ')).toThrow(expect.objectContaining({ code: 'invalid_cursor' }))
})
