import { describe, expect, test } from 'vitest'
import { SCHEDULE_MISSED_AFTER_MS, SCHEDULE_PLAN_LOW } from '../limits.ts'
import { unpackRecord } from '../model/schema.ts'
import type { PlannedFiring, Schedule } from '../model/schedule-schema.ts'
import { inFiringOrder, isMissed, lacksBoundaries, scheduleDueAt, verdictOf } from './schedule-state.ts'

const LATE = SCHEDULE_MISSED_AFTER_MS
const at = (fireAt: number, boundary = fireAt): PlannedFiring => ({
  at: boundary,
  fireAt,
  executionId: `0-${boundary}` as PlannedFiring['executionId'],
  memberIds: undefined,
})
const schedule = (fields: Partial<Schedule>): Schedule => ({ ...unpackRecord('schedule', []), planned: [], ...fields })

test.each<[string, Partial<Schedule>, number | undefined]>([
  ['a boundary', { planned: [at(10), at(20)] }, 10],
  ['nothing', {}, undefined],
  ['the time to plan, if that is earlier', { planned: [at(10)], planAt: 7 }, 7],
  ['a boundary that is earlier than the time to plan', { planned: [at(10)], planAt: 17 }, 10],
  ['the end of a firing that others wait for', { planned: [at(10)], wakeAt: 3 }, 3],
  ['no boundary while missed ones wait', { planned: [at(10)], isStalled: true, planAt: 30 }, 30],
  ['nothing while it is paused', { planned: [at(10)], pause: { at: 1, by: 'ops', reason: undefined } }, undefined],
])('time changes a schedule next at %s', (_what, fields, dueAt) => {
  expect(scheduleDueAt(schedule(fields))).toBe(dueAt)
})

test('boundaries are lacking when few are left or missed ones wait, unless there are no others', () => {
  const planned = Array.from({ length: SCHEDULE_PLAN_LOW }, (_, i) => at(i))

  expect(lacksBoundaries(schedule({ planned }))).toBe(true)
  expect(lacksBoundaries(schedule({ planned: [...planned, at(99)] }))).toBe(false)
  expect(lacksBoundaries(schedule({ planned: [...planned, at(99)], isStalled: true }))).toBe(true)
  expect(lacksBoundaries(schedule({ planned, isComplete: true, isStalled: true }))).toBe(false)
})

test('a boundary is missed once it is later than the time that an engine may take', () => {
  expect([isMissed(at(10), 10 + LATE), isMissed(at(10), 11 + LATE)]).toEqual([false, true])
})

describe('the first boundary', () => {
  const first = at(10)
  const now = 11 + LATE
  const verdict = (fields: Partial<Schedule>, when = now) =>
    verdictOf(schedule({ planned: [first], ...fields }), first, when)

  test('fires in time, whatever the policy', () => {
    for (const missed of ['skip', 'last', 'all'] as const) expect(verdict({ missed }, 10 + LATE)).toBe('fire')
  })

  test('is skipped if it was missed and missed ones are skipped', () => {
    expect(verdict({ missed: 'skip', isComplete: true })).toBe('skip')
  })

  test('is skipped if a later one has passed too and only the last one counts', () => {
    expect(verdict({ missed: 'last', planned: [first, at(now)], isComplete: true })).toBe('skip')
    expect(verdict({ missed: 'last', planned: [first, at(now + 1)], isComplete: true })).toBe('fire')
    expect(verdict({ missed: 'all', planned: [first, at(now)], isComplete: true })).toBe('fire')
    expect(verdict({ missed: 'last', isComplete: true })).toBe('fire')
  })

  test('fires if it was missed and boundaries up to now are known, and stalls otherwise', () => {
    const missed = 'all'
    expect(verdict({ missed })).toBe('stall')
    expect(verdict({ missed, isComplete: true })).toBe('fire')
    expect(verdict({ missed, planned: [first, at(now)] })).toBe('stall')
    expect(verdict({ missed, planned: [first, at(now + 1)] })).toBe('fire')
    expect(verdict({ missed, plannedAt: now - LATE })).toBe('fire')
    expect(verdict({ missed, plannedAt: now - LATE - 1 })).toBe('stall')
    expect(verdict({ missed, plannedAt: now })).toBe('fire')
    expect(verdict({ missed, plannedAt: now + 1 })).toBe('stall')
    expect(verdict({ missed, planned: [], plannedAt: now + 1 })).toBe('stall')
  })
})

test('boundaries are in the order of their firing, and of their instants if they fire at once', () => {
  const planned = [at(30, 1), at(10, 9), at(20, 4), at(20, 3), at(5, 2)]

  expect(inFiringOrder(planned).map((one) => [one.fireAt, one.at])).toEqual([
    [5, 2],
    [10, 9],
    [20, 3],
    [20, 4],
    [30, 1],
  ])
  expect(planned[0]).toEqual(at(30, 1))
})
