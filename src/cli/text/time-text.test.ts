import { describe, expect, test } from 'vitest'
import { durationText, relativeTime, timeText } from './time-text.ts'

describe('durationText', () => {
  test.each([
    [0, '0ms'],
    [999, '999ms'],
    [1_000, '1s'],
    [90_000, '1m 30s'],
    [3_600_000, '1h'],
    [7_265_000, '2h 1m'],
    [93_600_000, '1d 2h'],
  ])('%i ms reads %s', (ms, text) => {
    expect(durationText(ms)).toBe(text)
  })
})

test('a time is formatted in ISO 8601 and relative to now', () => {
  expect(timeText(0, 61_000)).toBe('1970-01-01T00:00:00.000Z (1m 1s ago)')
  expect(relativeTime(5_000, 0)).toBe('in 5s')
  expect(relativeTime(5_000, 5_000)).toBe('now')
})
