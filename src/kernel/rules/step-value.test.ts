import { expect, test } from 'vitest'
import { resultKey, stepValueKey } from '../model/blob-keys.ts'
import type { Step } from '../model/journal-schema.ts'
import { failureAt } from './failure.ts'
import { valueKeyOf } from './step-value.ts'

test('the value of a step is its own, and that of a child is the result of its execution', () => {
  expect(valueKeyOf({ id: 's' } as Step)).toBe(stepValueKey('s'))
  expect(valueKeyOf({ id: 's', child: { executionId: '0-b' } } as Step)).toBe(resultKey('0-b'))
})

test('a failure is stored with its time', () => {
  const failure = { category: 'error', message: 'no luck', stack: 'at f' }

  expect(failureAt(failure, 7)).toEqual({ ...failure, at: 7 })
})
