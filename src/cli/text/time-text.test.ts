import { describe, expect, test } from 'vitest'
import { durationText, parseDurationFlag, parseSince, relativeTime, timeText } from './time-text.ts'

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

test('a time is told in ISO 8601 and as seen from now', () => {
  expect(timeText(0, 61_000)).toBe('1970-01-01T00:00:00.000Z (1m 1s ago)')
  expect(relativeTime(5_000, 0)).toBe('in 5s')
  expect(relativeTime(5_000, 5_000)).toBe('now')
})

describe('a duration behind a flag', () => {
  test('may be a bare number of milliseconds', () => {
    expect(parseDurationFlag('1500', '--delay')).toBe(1_500)
    expect(parseDurationFlag('5m', '--delay')).toBe(300_000)
  })

  test.each(['', 'soon', '5 minutes', '-3s', '1w'])('is refused by the name of its flag: %j', (text) => {
    expect(() => parseDurationFlag(text, '--delay')).toThrow('--delay')
  })
})

describe('parseSince', () => {
  const now = Date.parse('2026-01-31T12:00:00Z')

  test.each([
    ['2h', '2026-01-31T10:00:00.000Z'],
    ['2026-01-30T00:00:00Z', '2026-01-30T00:00:00.000Z'],
    ['2026-01-30', '2026-01-30T00:00:00.000Z'],
  ])('%s is %s', (text, expected) => {
    expect(new Date(parseSince(text, '--since', now)).toISOString()).toBe(expected)
  })

  test.each(['yesterday', '2026-13-01', '12', ''])('refuses %j and says what would do', (text) => {
    expect(() => parseSince(text, '--since', now)).toThrow(/--since .* such as 30m/)
  })
})
