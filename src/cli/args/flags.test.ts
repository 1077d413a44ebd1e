import { describe, expect, test } from 'vitest'
import { collect, parseBackoff, parseEventType, parseInteger, parseState, parseTag, parseTags } from './flags.ts'

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
