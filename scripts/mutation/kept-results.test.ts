import { expect, test } from 'vitest'
import { packOutcomes, unpackOutcomes } from './kept-results.ts'
import type { Outcome } from './kept-results.ts'

test('outcomes are kept as counts and ranges, and read again', () => {
  const outcomes: Outcome[] = ['survived', 'killed', 'open', 'open', 'open', 'killed', 'survived', 'open', 'killed']
  const packed = packOutcomes(outcomes)

  expect(packed).toBe('9, survived 0 6, open 2-4 7')
  expect(unpackOutcomes(packed)).toEqual(outcomes)
  expect(unpackOutcomes(packOutcomes(['killed', 'killed']))).toEqual(['killed', 'killed'])
})
