import { expect, test } from 'vitest'
import { SEPARATOR, joinName, nameBefore, nameStart } from './names.ts'

test('joined names keep their parts apart, because no part contains the separator', () => {
  expect(joinName('a', 'b')).toBe(`a${SEPARATOR}b`)
  expect(joinName('a b', 'c')).not.toBe(joinName('a', 'b c'))
})

test('a joined name can be taken apart at both ends', () => {
  const name = joinName(joinName('a', 'b'), 'c')

  expect([nameStart(name), nameBefore(name, 'c'), nameStart('alone')]).toEqual(['a', joinName('a', 'b'), 'alone'])
})
