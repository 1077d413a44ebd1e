import { expect, expectTypeOf, test } from 'vitest'
import { everyOf, optionKeys } from './exhaustive.ts'

interface Options {
  readonly id: string
  readonly delay?: number
}

test('a list of all keys is returned as it is', () => {
  expect(optionKeys<Options>()(['delay', 'id'])).toEqual(['delay', 'id'])
  expectTypeOf(everyOf<'a' | 'b'>()(['b', 'a'])).toEqualTypeOf<readonly ['b', 'a']>()
})

test('a list that lacks a key, or has an unknown one, does not compile', () => {
  // @ts-expect-error -- delay is missing
  optionKeys<Options>()(['id'])
  // @ts-expect-error -- name is unknown
  optionKeys<Options>()(['id', 'delay', 'name'])
})
