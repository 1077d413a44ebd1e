import { expect, test } from 'vitest'
import { firstLine, printable } from './output.ts'

test('text from outside can neither colour the screen nor move the cursor', () => {
  expect(printable('\u001b[31mred\u001b[0m \u0007bell\r\nnext\ttab')).toBe('red \ufffdbell\ufffd\nnext\ttab')
})

test('one line is the first one', () => {
  expect(firstLine('boom\n  at handler')).toBe('boom')
})
