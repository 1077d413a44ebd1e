import { expect, test } from 'vitest'
import fc from 'fast-check'
import { escapeHiddenInJson, firstLine, printable, printableLines } from './printable.ts'

test('text from outside can neither colour the screen, move the cursor nor begin a line', () => {
  expect(printable('\u001b[31mred\u001b[0m \u0007bell\r\nnext\ttab')).toBe(
    '\\u001b[31mred\\u001b[0m \\u0007bell\\r\\nnext\\ttab',
  )
})

test('text from outside cannot reverse what is read, or hide anything', () => {
  expect(printable('a\u202eb\u2066c\u200fd\u200be\ufefff\u2028g\u0085h')).toBe(
    'a\\u202eb\\u2066c\\u200fd\\u200be\\ufefff\\u2028g\\u0085h',
  )
  expect(printable('\u{e0041}\ud800')).toBe('\\udb40\\udc41\\ud800')
  expect(printable('Zoë 愛 👩 ada')).toBe('Zoë 愛 👩 ada')
})

test('several lines stay several lines', () => {
  expect(printableLines('boom\n\tat\u202e handler\r')).toBe('boom\n\tat\\u202e handler\\u000d')
})

test('one line is the first one', () => {
  expect(firstLine('boom\n  at handler')).toBe('boom')
})

test('a JSON document for a terminal has the same content, and nothing in it hides', () => {
  fc.assert(
    fc.property(fc.json({ stringUnit: 'binary' }), (json) => {
      const shown = escapeHiddenInJson(JSON.stringify(JSON.parse(json)))
      expect(JSON.parse(shown)).toEqual(JSON.parse(json))
      expect(shown).toBe(printable(shown))
    }),
  )
})
