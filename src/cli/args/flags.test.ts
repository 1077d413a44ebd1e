import { describe, expect, test } from 'vitest'
import {
  collect,
  parseBackoff,
  parseDurationFlag,
  parseEventType,
  parseInteger,
  parseSince,
  parseState,
  parseTag,
  parseTags,
} from './flags.ts'

test('a flag that may be repeated keeps every value in order', () => {
  expect(collect('b', collect('a'))).toEqual(['a', 'b'])
})

test('a whole number is one, and nothing else is', () => {
  expect(parseInteger('42', '--limit')).toBe(42)
  for (const text of ['', '4.5', '1e3', 'ten', ' 1']) expect(() => parseInteger(text, '--limit')).toThrow('--limit')
})

describe('a tag', () => {
  test('is a name and a value, which may hold a further equals sign', () => {
    expect(parseTag('query=a=b')).toEqual({ name: 'query', value: 'a=b' })
  })

  test.each(['plan', '=pro', 'Plan=pro', '__proto__=x'])('is refused if its name is none: %j', (text) => {
    expect(() => parseTag(text)).toThrow('--tag')
  })

  test('is refused if it is given twice', () => {
    expect(() => parseTags(['plan=pro', 'plan=free'])).toThrow('twice')
    expect(() => parseTags(['plan=pro', 'plan=free'], '--set')).toThrow('--set gives')
  })
})

test('a state and an event type are known words, and the error lists them', () => {
  expect(parseState('failed')).toBe('failed')
  expect(() => parseState('done')).toThrow('completed')
  expect(parseEventType('execution_ended')).toBe('execution_ended')
  expect(() => parseEventType('ended')).toThrow('execution_ended')
})

describe('a backoff', () => {
  test.each([
    ['fixed', 'fixed'],
    ['fixed:30s', { kind: 'fixed', delay: 30_000 }],
    ['exponential', { kind: 'exponential' }],
    ['exponential:1s', { kind: 'exponential', initial: 1_000 }],
    ['exponential:1s:5m', { kind: 'exponential', initial: 1_000, max: 300_000 }],
  ])('%s', (text, expected) => {
    expect(parseBackoff(text)).toEqual(expected)
  })

  test.each(['linear', 'fixed:1s:2s', 'exponential:1s:2s:3s', 'fixed:soon', ''])('%j is refused', (text) => {
    expect(() => parseBackoff(text)).toThrow('--backoff')
  })
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
