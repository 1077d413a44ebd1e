import { expect, test } from 'vitest'
import { table } from './table.ts'

test('columns are as wide as their widest cell, and nothing trails', () => {
  expect(
    table([
      ['ID', 'STATE'],
      ['a-long-id', 'active'],
      ['b', ''],
    ]),
  ).toBe('ID         STATE\na-long-id  active\nb')
})

test('numbers stand to the right, and every line is indented', () => {
  expect(
    table(
      [
        ['N', 'x'],
        ['100', 'y'],
      ],
      { alignRight: [0], indent: '  ' },
    ),
  ).toBe('    N  x\n  100  y')
})

test('colours take no room', () => {
  expect(
    table([
      ['\u001b[31mred\u001b[39m', 'a'],
      ['longer', 'b'],
    ]),
  ).toBe('\u001b[31mred\u001b[39m     a\nlonger  b')
})
