import { describe, expect, test } from 'vitest'
import { BUDGET_SUM_MAX } from '../limits.ts'
import type { Amounts } from '../model/budget-schema.ts'
import { addAmounts, equalAmounts, has, isExact, subtractAmounts, valueIn } from './budget-amounts.ts'

const amounts = (of: Record<string, number>): Amounts =>
  Object.entries(of).map(([dimension, value]) => ({ dimension, value }))

test('an amount has the values of its dimensions, and zero of any other', () => {
  const both = amounts({ cost: 3, tokens: 5 })

  expect([valueIn(both, 'cost'), valueIn(both, 'tokens'), valueIn(both, 'other')]).toEqual([3, 5, 0])
  expect([has(both, 'tokens'), has(both, 'other'), has([], 'cost')]).toEqual([true, false, false])
})

describe('two amounts', () => {
  test.each([
    { a: {}, b: {}, sum: {} },
    { a: { cost: 1 }, b: {}, sum: { cost: 1 } },
    { a: {}, b: { cost: 1, tokens: 2 }, sum: { cost: 1, tokens: 2 } },
    { a: { cost: 1 }, b: { cost: 2 }, sum: { cost: 3 } },
    { a: { tokens: 1 }, b: { cost: 2 }, sum: { cost: 2, tokens: 1 } },
    { a: { cost: 2 }, b: { tokens: 1 }, sum: { cost: 2, tokens: 1 } },
    { a: { a: 1, c: 2, e: 3 }, b: { b: 4, c: 5 }, sum: { a: 1, b: 4, c: 7, e: 3 } },
    { a: { a: 0, c: 2 }, b: { a: 0, b: 0 }, sum: { c: 2 } },
  ])('$a and $b are $sum, in the order of their names and without zeros', ({ a, b, sum }) => {
    expect(addAmounts(amounts(a), amounts(b))).toEqual(amounts(sum))
    expect(addAmounts(amounts(b), amounts(a))).toEqual(amounts(sum))
  })

  test('leave nothing below zero when one is subtracted', () => {
    expect(subtractAmounts(amounts({ a: 5, b: 2, c: 1 }), amounts({ a: 2, b: 2, c: 9, d: 4 }))).toEqual(
      amounts({ a: 3 }),
    )
  })

  test.each([
    { a: {}, b: {}, isEqual: true },
    { a: { cost: 1, tokens: 2 }, b: { cost: 1, tokens: 2 }, isEqual: true },
    { a: { cost: 0 }, b: {}, isEqual: true },
    { a: { cost: 1 }, b: { cost: 2 }, isEqual: false },
    { a: { cost: 1 }, b: {}, isEqual: false },
    { a: {}, b: { cost: 1 }, isEqual: false },
  ])('$a and $b are equal: $isEqual', ({ a, b, isEqual }) => {
    expect(equalAmounts(amounts(a), amounts(b))).toBe(isEqual)
  })
})

test('a sum is exact up to the greatest whole number', () => {
  expect(isExact([])).toBe(true)
  expect(isExact(amounts({ cost: 1, tokens: BUDGET_SUM_MAX }))).toBe(true)
  expect(isExact(amounts({ cost: 1, tokens: BUDGET_SUM_MAX + 1 }))).toBe(false)
})
