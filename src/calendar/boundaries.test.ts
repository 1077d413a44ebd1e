import { describe, expect, test } from 'vitest'
import type { ScheduleTiming } from '../kernel/index.ts'
import { boundariesAfter, boundariesUpTo } from './boundaries.ts'

const none = { cron: undefined, timeZone: undefined, everyMs: undefined, originAt: undefined, fromAt: undefined }
const base: ScheduleTiming = { ...none, untilAt: undefined, jitterMs: 0 }

function cron(expression: string, timeZone: string, changes: Partial<ScheduleTiming> = {}): ScheduleTiming {
  return { ...base, cron: expression, timeZone, ...changes }
}

function after(timing: ScheduleTiming, from: string, count: number): string[] {
  return boundariesAfter(timing, Date.parse(from), count).map((at) => new Date(at).toISOString().slice(0, 16))
}

/** A zone with the time that its clocks skip and the one that they show twice in 2026. */
const zones = [
  {
    zone: 'Europe/Berlin',
    skipped: { cron: '30 2 * * *', from: '2026-03-28T12:00Z', days: ['2026-03-29T01:00', '2026-03-30T00:30'] },
    twice: { cron: '30 2 * * *', from: '2026-10-24T12:00Z', days: ['2026-10-25T00:30', '2026-10-26T01:30'] },
  },
  {
    zone: 'America/New_York',
    skipped: { cron: '30 2 * * *', from: '2026-03-08T00:00Z', days: ['2026-03-08T07:00', '2026-03-09T06:30'] },
    twice: { cron: '30 1 * * *', from: '2026-11-01T00:00Z', days: ['2026-11-01T05:30', '2026-11-02T06:30'] },
  },
  {
    zone: 'Australia/Lord_Howe',
    // Its clocks change by half an hour.
    skipped: { cron: '15 2 * * *', from: '2026-10-03T00:00Z', days: ['2026-10-03T15:30', '2026-10-04T15:15'] },
    twice: { cron: '45 1 * * *', from: '2026-04-03T20:00Z', days: ['2026-04-04T14:45', '2026-04-05T15:15'] },
  },
  {
    zone: 'America/Santiago',
    // Its clocks change at midnight.
    skipped: { cron: '30 0 * * *', from: '2026-09-05T12:00Z', days: ['2026-09-06T04:00', '2026-09-07T03:30'] },
    twice: { cron: '30 23 * * *', from: '2026-04-04T12:00Z', days: ['2026-04-05T02:30', '2026-04-06T03:30'] },
  },
] as const

describe.each(zones)('the clocks change in $zone', ({ zone, skipped, twice }) => {
  test('a daily time that does not exist becomes the first instant after the gap', () => {
    expect(after(cron(skipped.cron, zone), skipped.from, 2)).toEqual(skipped.days)
  })

  test('of a daily time that comes twice the first counts', () => {
    expect(after(cron(twice.cron, zone), twice.from, 2)).toEqual(twice.days)
  })

  test('an expression that repeats within the hour follows the real time: none in the gap, twice in the repetition', () => {
    for (const { from } of [skipped, twice]) {
      const found = boundariesAfter(cron('*/30 * * * *', zone), Date.parse(from), 96)
      const steps = found.slice(1).map((at, i) => at - (found[i] ?? 0))
      expect(new Set(steps)).toEqual(new Set([30 * 60_000]))
    }
  })

  test.for(['30 2 * * *', '*/20 1-3 * * *', '15 0 1 * *', '0 12 * * 1'])(
    'looking back finds the same boundaries of "%s" as looking ahead',
    (expression) => {
      const timing = cron(expression, zone)
      const from = Date.parse('2026-01-01T00:00Z')
      const ahead = boundariesAfter(timing, from, 400)
      const last = ahead.at(-1) ?? 0
      expect(boundariesUpTo(timing, last, ahead.length).reverse()).toEqual(ahead)
      expect(boundariesUpTo(timing, last - 1, 1)).toEqual([ahead.at(-2)])
    },
  )
})

test('a boundary is after the given instant, and never at it', () => {
  const timing = cron('0 3 * * *', 'UTC')
  expect(after(timing, '2026-01-01T03:00:00Z', 1)).toEqual(['2026-01-02T03:00'])
  expect(after(timing, '2026-01-01T02:59:59.999Z', 1)).toEqual(['2026-01-01T03:00'])
  expect(after(timing, '2026-01-01T03:00:00.001Z', 1)).toEqual(['2026-01-02T03:00'])
})

test('looking back includes the given instant', () => {
  const timing = cron('0 3 * * *', 'UTC')
  const at = Date.parse('2026-01-02T03:00Z')
  expect(boundariesUpTo(timing, at, 1)).toEqual([at])
  expect(boundariesUpTo(timing, at + 999, 1)).toEqual([at])
  expect(boundariesUpTo(timing, at - 1, 1)).toEqual([at - 86_400_000])
})

test('six fields begin with seconds', () => {
  expect(boundariesAfter(cron('*/15 * * * * *', 'UTC'), 0, 3)).toEqual([15_000, 30_000, 45_000])
})

test('a period counts from its origin, before and after it', () => {
  const every = { ...base, everyMs: 700, originAt: 100 }
  expect(boundariesAfter(every, 100, 3)).toEqual([800, 1_500, 2_200])
  expect(boundariesAfter(every, 0, 2)).toEqual([100, 800])
  expect(boundariesUpTo(every, 1_500, 9)).toEqual([1_500, 800, 100])
})

test('from is the first instant, and until is not one', () => {
  const fromAt = Date.parse('2026-01-05T03:00Z')
  const timing = cron('0 3 * * *', 'UTC', { fromAt, untilAt: fromAt + 2 * 86_400_000 })
  expect(after(timing, '2026-01-01T00:00Z', 9)).toEqual(['2026-01-05T03:00', '2026-01-06T03:00'])
  expect(boundariesUpTo(timing, Infinity, 9)).toEqual([fromAt + 86_400_000, fromAt])
})

test('no boundary is after the last instant that a calendar has', () => {
  const every = { ...base, everyMs: 700, originAt: 8_640_000_000_000_000 - 1_000 }
  expect(boundariesAfter(every, 0, 9)).toEqual([every.originAt, every.originAt + 700])
})

test('an expression without further dates has no boundaries', () => {
  expect(after(cron('0 0 30 2 *', 'UTC'), '2026-01-01T00:00Z', 1)).toEqual([])
})

/** Matches each minute of an interval against the fields, by the local time that Intl shows. */
function minutesThatMatch(zone: string, from: number, to: number, matches: (hour: number, minute: number) => boolean) {
  const format = new Intl.DateTimeFormat('en-GB', {
    timeZone: zone,
    hour: 'numeric',
    minute: 'numeric',
    hourCycle: 'h23',
  })
  const found: number[] = []
  for (let at = from + 60_000; at <= to; at += 60_000) {
    const [hour = 0, minute = 0] = format.format(at).split(':').map(Number)
    if (matches(hour, minute)) found.push(at)
  }
  return found
}

test.for(zones)('in $zone, repeated times are those that a clock on the wall shows', ({ zone, skipped, twice }) => {
  for (const from of [skipped.from, twice.from].map((text) => Date.parse(text))) {
    const to = from + 36 * 3_600_000
    const expected = minutesThatMatch(zone, from, to, (hour, minute) => hour <= 3 && (minute === 5 || minute === 35))
    const found = boundariesAfter(cron('5,35 0-3 * * *', zone), from, 200).filter((at) => at <= to)
    expect(found).toEqual(expected)
  }
})
