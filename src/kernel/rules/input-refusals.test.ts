import { expect, test } from 'vitest'
import { REFUSAL_DELAY_FIRST_MS, REFUSAL_DELAY_MAX_MS } from '../limits.ts'
import { addRefusal, refusalDelayMs } from './input-refusals.ts'

test('refusals are counted, each build is listed once, and the last reason counts', () => {
  const first = addRefusal(undefined, 'a', 'no', 1)
  const second = addRefusal(first, 'b', 'never', 2)
  const third = addRefusal(second, 'a', 'not now', 3)

  expect(first).toEqual({ count: 1, builds: ['a'], reason: 'no', at: 1 })
  expect(second).toEqual({ count: 2, builds: ['a', 'b'], reason: 'never', at: 2 })
  expect(third).toEqual({ count: 3, builds: ['a', 'b'], reason: 'not now', at: 3 })
})

test('the delay doubles with each refusal, up to a longest one', () => {
  expect([1, 2, 3, 4].map(refusalDelayMs)).toEqual([1, 2, 4, 8].map((times) => times * REFUSAL_DELAY_FIRST_MS))
  expect([9, 10, 5_000].map(refusalDelayMs)).toEqual([256_000, REFUSAL_DELAY_MAX_MS, REFUSAL_DELAY_MAX_MS])
})
