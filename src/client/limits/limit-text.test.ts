import { expect, test } from 'vitest'
import type { KeyUsage, LimitBlock } from '../../kernel/index.ts'
import { limitText } from './limit-text.ts'

const AT = Date.UTC(2026, 0, 2, 3, 4, 5)
const block: LimitBlock = {
  limit: 'openai',
  key: 'acme',
  cause: 'concurrency',
  until: AT + 5_000,
  ahead: 3,
  aheadLimit: 1_000,
}
const usage: KeyUsage = {
  key: 'acme',
  held: 50,
  holders: 2,
  used: 12,
  hold: undefined,
  waitingPartitions: 1,
  next: undefined,
}
const limit = { rate: { count: 400, windowMs: 60_000 }, concurrency: 50 }
const start = "It waits since 2026-01-02T03:04:05.000Z for the limit 'openai' with the key 'acme': "
const end = 'The next one asks for a permit at 2026-01-02T03:04:10.000Z at the latest.'

test('a full cap names the permits, the workers that hold them, and what makes room', () => {
  expect(limitText(AT, block, { limit: { rate: undefined, concurrency: 50 }, usage, at: AT })).toBe(
    `${start}50 of 50 permits are held by 2 workers. 3 executions are ahead of it in its partition. It has room when an execution that holds a permit ends. ${end}`,
  )
})

test('a full window names its length, and when it has room', () => {
  const full = { ...usage, used: 400, held: 1, holders: 1, next: { afterMs: 1_500, permits: 4 } }

  expect(limitText(AT, { ...block, cause: 'rate', ahead: 0 }, { limit, usage: full, at: AT })).toBe(
    `${start}400 of 400 are used up in a window of 1 min, and 1 of 50 permits are held by 1 worker. None is ahead of it in its partition. It has room at 2026-01-02T03:04:06.500Z. ${end}`,
  )
})

test.each([
  ['an operator', { by: 'ada', reason: 'the provider is down' }, 'ada holds', ' (the provider is down)'],
  ['a handler', { by: undefined, reason: undefined }, 'a handler that was asked to retry later holds', ''],
])('a hold names %s', (_, hold, who, why) => {
  const held = { ...usage, hold: { until: AT + 9_000, ...hold }, next: { afterMs: 9_000, permits: 1 } }

  expect(limitText(AT, block, { limit: { ...limit, concurrency: undefined }, usage: held, at: AT })).toContain(
    `${who} it back until 2026-01-02T03:04:14.000Z${why}, and 12 of 400 are used up in a window of 1 min.`,
  )
})

test.each([
  ['of which nothing is used', undefined],
  ['with permits that are free', { ...usage, held: 1, next: { afterMs: 0, permits: 49 } }],
])('a key %s has room now', (_, now) => {
  expect(limitText(AT, block, { limit, usage: now, at: AT })).toContain('It has room now.')
})

test('without the usage of the key, the cause of the block is named', () => {
  expect(limitText(AT, { ...block, key: '', cause: 'unknown', ahead: 1 }, undefined)).toBe(
    `It waits since 2026-01-02T03:04:05.000Z for the limit 'openai': no limit of this name is defined, so nothing that needs it starts before it is. One execution is ahead of it in its partition. ${end}`,
  )
})

test('a window of any length is written in the longest unit that divides it', () => {
  const windowText = (windowMs: number) =>
    /window of (\S+ \S+),/.exec(
      limitText(AT, block, { limit: { rate: { count: 1, windowMs }, concurrency: 1 }, usage, at: AT }),
    )?.[1]

  expect([1_500, 15_000, 7_200_000, 86_400_000].map(windowText)).toEqual(['1500 ms', '15 s', '2 h', '1 d'])
})

test('a long line is counted as far as the count goes', () => {
  expect(limitText(AT, { ...block, ahead: 1_000 }, undefined)).toContain('At least 1000 executions are ahead')
})
