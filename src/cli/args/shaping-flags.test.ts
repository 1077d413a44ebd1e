import { expect, test } from 'vitest'
import { shapingFlags } from './shaping-flags.ts'

test('a key may contain commas, and what follows the last ones belongs to the kind', () => {
  expect(shapingFlags({})).toEqual({})
  expect(shapingFlags({ debounce: 'a,b,5s' })).toEqual({ debounce: { key: 'a,b', wait: 5_000 } })
  expect(shapingFlags({ debounce: 'a,5s,1m' })).toEqual({ debounce: { key: 'a', wait: 5_000, max: 60_000 } })
  expect(shapingFlags({ throttle: 'a,1m' })).toEqual({ throttle: { key: 'a', every: 60_000 } })
  expect(shapingFlags({ singleton: 'a' })).toEqual({ singleton: { key: 'a' } })
  expect(shapingFlags({ singleton: 'a,replace' })).toEqual({ singleton: { key: 'a', ifTaken: 'replace' } })
  expect(shapingFlags({ order: 'a,block' })).toEqual({ order: { key: 'a', onFailure: 'block' } })
})

test('names the flag that lacks something', () => {
  expect(() => shapingFlags({ debounce: 'document:17' })).toThrow('--debounce is the key and the wait')
  expect(() => shapingFlags({ throttle: 'account:17' })).toThrow('--throttle is the key and the period')
  expect(() => shapingFlags({ order: 'a,b' })).toThrow('--order')
})
