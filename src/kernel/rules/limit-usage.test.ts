import { describe, expect, test } from 'vitest'
import { budgetId } from '../model/budget-ids.ts'
import { unpackRecord } from '../model/schema.ts'
import type { Gauge, Limit, WindowEntry } from '../model/limit-schema.ts'
import { UNLIMITED, gaugeDueAt, nextRoom, roomOf, usageScore, weightUnder } from './limit-usage.ts'

const rate = { count: 10, windowMs: 1_000 }
const limit = (fields: Partial<Limit>): Limit => ({ ...unpackRecord('limit_definition', []), id: 'mail', ...fields })
const gauge = (fields: Partial<Gauge>): Gauge => ({
  ...unpackRecord('gauge', []),
  heldCount: 0,
  holderCount: 0,
  window: [],
  ...fields,
})
const window = (...pairs: [at: number, weight: number][]): WindowEntry[] =>
  pairs.map(([at, weight]) => ({ at, weight }))

test('an execution weighs no more than the rate admits', () => {
  expect([weightUnder(limit({}), 50), weightUnder(limit({ rate }), 50), weightUnder(limit({ rate }), 3)]).toEqual([
    50, 10, 3,
  ])
})

describe('the room of a key', () => {
  test('is none while it is held, and until when', () => {
    const held = gauge({ heldUntil: 70 })

    expect(roomOf(limit({}), held, 1, 50)).toEqual({ permits: 0, refusal: { cause: 'held', retryAfterMs: 20 } })
    expect(roomOf(limit({ id: budgetId('team', 'team') }), held, 1, 50).refusal?.cause).toBe('budget')
    expect(roomOf(limit({}), held, 1, 70)).toEqual({ permits: UNLIMITED, refusal: undefined })
  })

  test('is unlimited without a limit, also for work without a weight', () => {
    expect(roomOf(limit({}), gauge({ heldCount: 5 }), 1, 50)).toEqual({ permits: UNLIMITED, refusal: undefined })
    expect(roomOf(limit({ rate }), gauge({ window: window([1, 10]) }), 0, 50)).toEqual({
      permits: UNLIMITED,
      refusal: { cause: 'rate', retryAfterMs: 0 },
    })
  })

  test('is what the cap leaves', () => {
    const capped = limit({ concurrency: 3 })
    const cause = 'concurrency'

    expect(roomOf(capped, gauge({ heldCount: 1 }), 1, 50)).toEqual({ permits: 2, refusal: { cause } })
    expect(roomOf(capped, gauge({ heldCount: 5 }), 1, 50)).toEqual({ permits: 0, refusal: { cause } })
  })

  test('is what the rate leaves, and shows when one more would fit', () => {
    const used = gauge({ window: window([10, 3], [20, 4]) })

    expect(roomOf(limit({ rate }), used, 1, 50)).toEqual({ permits: 3, refusal: { cause: 'rate', retryAfterMs: 960 } })
    expect(roomOf(limit({ rate }), used, 2, 50)).toEqual({ permits: 1, refusal: { cause: 'rate', retryAfterMs: 960 } })
    expect(roomOf(limit({ rate }), used, 5, 50)).toEqual({ permits: 0, refusal: { cause: 'rate', retryAfterMs: 960 } })
    expect(roomOf(limit({ rate }), used, 10, 50)).toEqual({ permits: 0, refusal: { cause: 'rate', retryAfterMs: 970 } })
  })

  test('is the lesser of what the rate and the cap leave', () => {
    const used = gauge({ heldCount: 2, window: window([10, 8]) })

    expect(roomOf(limit({ rate, concurrency: 3 }), used, 1, 50)).toMatchObject({
      permits: 1,
      refusal: { cause: 'concurrency' },
    })
    expect(roomOf(limit({ rate, concurrency: 9 }), used, 1, 50)).toMatchObject({
      permits: 2,
      refusal: { cause: 'rate' },
    })
    expect(roomOf(limit({ rate, concurrency: 4 }), used, 1, 50)).toMatchObject({
      permits: 2,
      refusal: { cause: 'rate' },
    })
  })
})

describe('the next permits of a key are free', () => {
  test('now, if there are any', () => {
    expect(nextRoom(limit({ concurrency: 3 }), gauge({}), 1, 50)).toEqual({ afterMs: 0, permits: 3 })
    expect(nextRoom(limit({}), gauge({}), 1, 50)).toEqual({ afterMs: 0, permits: UNLIMITED })
  })

  test('when something is released, which time does not tell', () => {
    expect(nextRoom(limit({ concurrency: 1 }), gauge({ heldCount: 1 }), 1, 50)).toBeUndefined()
  })

  test('when the oldest admissions leave the window, as many as then fit', () => {
    const full = gauge({ window: window([10, 7], [20, 3]) })

    expect(nextRoom(limit({ rate }), full, 1, 50)).toEqual({ afterMs: 960, permits: 7 })
    expect(nextRoom(limit({ rate }), full, 2, 50)).toEqual({ afterMs: 960, permits: 3 })
    expect(nextRoom(limit({ rate }), full, 9, 50)).toEqual({ afterMs: 970, permits: 1 })
  })

  test('for work that is heavier than the rate, at once in an empty window', () => {
    expect(nextRoom(limit({ rate }), gauge({}), 20, 50)).toEqual({ afterMs: 0, permits: 1 })
  })

  test('one, when a hold ends, however much is in the window', () => {
    const held = gauge({ heldUntil: 70, window: window([10, 7]) })

    expect(nextRoom(limit({ rate }), held, 1, 50)).toEqual({ afterMs: 20, permits: 1 })
    expect(nextRoom(limit({ rate }), held, 0, 50)).toEqual({ afterMs: 20, permits: 1 })
  })
})

test.each<[string, Partial<Gauge>, number | undefined]>([
  ['while a process holds permits', { holderCount: 1, createdAt: 5 }, undefined],
  ['before wakes are delivered', { holderCount: 1, createdAt: 5, wakeAt: 7 }, 7],
  ['since it was created', { createdAt: 5 }, 5],
  ['when the window is empty', { createdAt: 5, window: window([10, 1], [20, 1]), windowMs: 100 }, 120],
  ['when a hold has ended', { createdAt: 5, heldUntil: 300, window: window([20, 1]), windowMs: 100 }, 300],
  ['when the window is empty after a hold', { heldUntil: 30, window: window([20, 1]), windowMs: 100 }, 120],
])('nothing of a key is left to remember %s', (_when, fields, dueAt) => {
  expect(gaugeDueAt(gauge(fields))).toBe(dueAt)
})

test('the busiest keys come first, by powers of two', () => {
  const scores = [0, 1, 2, 3, 4, 7, 8].map((heldCount) => usageScore(gauge({ heldCount })))

  expect(scores).toEqual([0, -1, -2, -2, -3, -3, -4])
  expect(usageScore(gauge({ heldCount: 1, window: window([1, 3], [2, 5]) }))).toBe(-4)
})
