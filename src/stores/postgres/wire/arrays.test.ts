import { expect, test } from 'vitest'
import { nameArray, nameOf } from './arrays.ts'

test.each(['plain', 'a\u0000b', '\u{10ffff}', '\u{10ffff}0', '\u0000\u{10ffff}1\u0000'])(
  'the name %j of an index comes back as it was',
  (name) => {
    const [stored] = nameArray([name]).values as string[]

    expect(stored).not.toContain('\u0000')
    expect(nameOf(stored ?? '')).toBe(name)
  },
)
