import fc from 'fast-check'
import { expect, test } from 'vitest'
import { fractionOf, nextSeed } from './seeded-random.ts'

const LARGEST_SEED = 2_147_483_646

test('a seed leads to another seed, never to zero', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: LARGEST_SEED }), (seed) => {
      const next = nextSeed(seed)
      expect(Number.isInteger(next) && next >= 1 && next <= LARGEST_SEED).toBe(true)
    }),
  )
})

test('seeds do not come round again soon', () => {
  const seen = new Set<number>()
  for (let seed = nextSeed(1), i = 0; i < 10_000; i++, seed = nextSeed(seed)) seen.add(seed)

  expect(seen.size).toBe(10_000)
})

test.each([0, -1, LARGEST_SEED + 1, Number.NaN])('%d, which is no seed, is taken for the first one', (seed) => {
  expect(nextSeed(seed)).toBe(nextSeed(1))
})

test('a fraction is at least 0 and below 1', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: LARGEST_SEED }), (seed) => {
      const fraction = fractionOf(seed)
      expect(fraction >= 0 && fraction < 1).toBe(true)
    }),
  )
})

test('a seed that is not whole is taken for the one below it', () => {
  expect(nextSeed(7.9)).toBe(nextSeed(7))
})
