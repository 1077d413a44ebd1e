import { expect, test } from 'vitest'
import { errorFields } from './log.ts'

test('an error is logged with its name, message and stack', () => {
  const error = new TypeError('no such thing')

  expect(errorFields(error)).toEqual({ error: 'TypeError: no such thing', stack: error.stack })
})

test('whatever else was thrown is logged as text', () => {
  expect(errorFields('just text')).toEqual({ error: 'just text' })
  expect(errorFields(undefined)).toEqual({ error: 'undefined' })
})
