import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  LARGEST_PRINTED_INTEGER,
  SEPARATOR,
  integerText,
  isTextBefore,
  joinName,
  nameBefore,
  nameStart,
} from './text.ts'

describe('a number as text', () => {
  test('is its decimal digits, from 0 to the largest that both languages print alike', () => {
    expect([0, 7, 1_700_000_000_000, LARGEST_PRINTED_INTEGER].map(integerText)).toEqual([
      '0',
      '7',
      '1700000000000',
      '99999999999999',
    ])
  })

  test.each([-1, LARGEST_PRINTED_INTEGER + 1, Number.POSITIVE_INFINITY, Number.NaN])('is not given for %d', (value) => {
    expect(integerText(value)).toBe('?')
  })
})

describe('the order of texts', () => {
  const ascii = fc.string({ unit: 'binary-ascii' })

  test('is that of their bytes', () => {
    fc.assert(
      fc.property(ascii, ascii, (a, b) => {
        expect(isTextBefore(a, b)).toBe(Buffer.compare(Buffer.from(a), Buffer.from(b)) < 0)
      }),
    )
  })

  test('puts a text before all that it begins', () => {
    expect([isTextBefore('lane', 'lane-2'), isTextBefore('lane-2', 'lane'), isTextBefore('lane', 'lane')]).toEqual([
      true,
      false,
      false,
    ])
  })
})

test('joined names keep their parts apart, because no part contains the separator', () => {
  expect(joinName('a', 'b')).toBe(`a${SEPARATOR}b`)
  expect(joinName('a b', 'c')).not.toBe(joinName('a', 'b c'))
})

test('a joined name can be taken apart at both ends', () => {
  const name = joinName(joinName('a', 'b'), 'c')

  expect([nameStart(name), nameBefore(name, 'c'), nameStart('alone')]).toEqual(['a', joinName('a', 'b'), 'alone'])
})
