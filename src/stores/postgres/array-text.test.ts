import { expect, test } from 'vitest'
import { flagArray, nameArray, nameOf, numberArray, textArray } from './array-text.ts'

test('texts are quoted, so that none is taken for anything else', () => {
  expect(textArray([])).toBe('{}')
  expect(textArray(['a', '', 'null', 'a,b', '{}'])).toBe('{"a","","null","a,b","{}"}')
  expect(textArray(['say "hi"', 'back\\slash'])).toBe('{"say \\"hi\\"","back\\\\slash"}')
})

test('what is absent is null', () => {
  expect(textArray(['a', undefined])).toBe('{"a",null}')
  expect(numberArray([1, undefined, -2])).toBe('{1,null,-2}')
})

test('a character that the server cannot hold is shown by its sign', () => {
  expect(textArray(['a\u0000b'])).toBe('{"a\u2400b"}')
})

test.each(['plain', 'a\u0000b', '\u{10ffff}', '\u{10ffff}0', '\u0000\u{10ffff}1\u0000'])(
  'the name %j of an index comes back as it was',
  (name) => {
    const stored = nameArray([name]).slice(2, -2)

    expect(stored).not.toContain('\u0000')
    expect(nameOf(stored)).toBe(name)
  },
)

test('flags are words', () => {
  expect(flagArray([true, false])).toBe('{true,false}')
})
