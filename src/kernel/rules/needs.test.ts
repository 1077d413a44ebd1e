import { expect, test } from 'vitest'
import { canonicalNeeds, missingNeeds } from './needs.ts'

test('canonical needs have no duplicates', () => {
  expect(canonicalNeeds(['region:eu', 'gpu', 'region:eu'])).toEqual(['gpu', 'region:eu'])
})

test('canonical needs are in the order of their bytes, not of their UTF-16 units', () => {
  const needs = ['\u{1f600}', '\uffee', 'b', 'ab', 'a', 'B']
  const byBytes = needs.toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)))

  expect(canonicalNeeds(needs)).toEqual(byBytes)
  expect(byBytes).not.toEqual(needs.toSorted())
})

test('missing needs are those that are no capability', () => {
  expect(missingNeeds(['gpu', 'region:eu'], new Set(['gpu', 'region:us']))).toEqual(['region:eu'])
  expect(missingNeeds([], new Set())).toEqual([])
})
