import { expect, test } from 'vitest'
import { DURATION_MAX_MS } from '../../kernel/index.ts'
import { parseDuration } from './duration.ts'

test.each([
  ['250ms', 250],
  ['30s', 30_000],
  ['5m', 300_000],
  ['12h', 43_200_000],
  ['7d', 604_800_000],
  ['1.5s', 1_500],
  [' 1s ', 1_000],
  [0, 0],
  [12.6, 13],
])('%j is %i milliseconds', (value, ms) => {
  expect(parseDuration(value, 'delay')).toBe(ms)
})

test.each([
  ['soon'],
  ['10'],
  ['10 s'],
  ['1w'],
  ['s'],
  [''],
  [Number.NaN],
  [Infinity],
  [null],
  [undefined],
  [{}],
  ['1e3s'],
])('%j is no duration, and the error names the field', (value) => {
  expect(() => parseDuration(value, 'timeout.attempt')).toThrow(
    /timeout\.attempt is .* must be milliseconds or a text such as '30s'/,
  )
})

test('a duration outside its bounds is refused with the bounds', () => {
  expect(() => parseDuration('-1s', 'delay')).toThrow(`must be from 0 to ${DURATION_MAX_MS} ms`)
  expect(() => parseDuration('999999999d', 'delay')).toThrow(`${DURATION_MAX_MS} ms`)
  expect(() => parseDuration('500ms', 'leaseTtl', 1_000)).toThrow('from 1000')
  expect(parseDuration('-5s', 'delay', -10_000)).toBe(-5_000)
})
