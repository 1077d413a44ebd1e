import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { WINDOW_ENTRY_MAX } from '../limits.ts'
import type { WindowEntry } from '../model/limit-schema.ts'
import { addToWindow, fitsAt, refundWindow, trimWindow, weightOf } from './sliding-window.ts'

const WINDOW_MS = 1_000

const entries = (...pairs: [at: number, weight: number][]): WindowEntry[] =>
  pairs.map(([at, weight]) => ({ at, weight }))

describe('trimWindow', () => {
  test('an entry that is as old as the window is long counts no more', () => {
    expect(trimWindow(entries([1, 1], [2, 1]), WINDOW_MS, 1 + WINDOW_MS)).toEqual(entries([2, 1]))
    expect(trimWindow(entries([1, 1], [2, 1], [3, 1], [4, 1]), WINDOW_MS, 1 + WINDOW_MS)).toEqual(
      entries([2, 1], [3, 1], [4, 1]),
    )
    expect(trimWindow(entries([1, 1]), WINDOW_MS, WINDOW_MS)).toEqual(entries([1, 1]))
  })
})

describe('addToWindow', () => {
  test('admissions of one instant are one entry', () => {
    expect(addToWindow(entries([5, 2]), WINDOW_MS, 5, 3)).toEqual(entries([5, 5]))
  })

  test('a clock that went back adds to the newest entry, so that nothing counts too short', () => {
    expect(addToWindow(entries([5, 2]), WINDOW_MS, 3, 1)).toEqual(entries([5, 3]))
  })

  test('no weight adds nothing', () => {
    expect(addToWindow([], WINDOW_MS, 5, 0)).toEqual([])
  })

  test('entries are exact up to the limit, then merged to the latest instant of their interval', () => {
    let window: readonly WindowEntry[] = []
    for (let at = 1; at <= WINDOW_ENTRY_MAX; at++) window = addToWindow(window, WINDOW_MS, at, 1)
    expect(window).toHaveLength(WINDOW_ENTRY_MAX)

    const merged = addToWindow(window, WINDOW_MS, WINDOW_ENTRY_MAX + 1, 1)

    expect(merged.length).toBeLessThan(WINDOW_ENTRY_MAX / 4)
    expect(weightOf(merged)).toBe(WINDOW_ENTRY_MAX + 1)
    expect(merged.at(-1)!.at).toBe(WINDOW_ENTRY_MAX + 1)
  })

  test('the intervals are a part of the window, rounded up, so that few enough are left', () => {
    const parts = WINDOW_ENTRY_MAX - 2
    const at = (count: number, everyMs: number) => Array.from({ length: count }, (_, i) => (i + 1) * everyMs)
    const windowOf = (windowMs: number, instants: readonly number[]) =>
      instants.reduce<readonly WindowEntry[]>((window, now) => addToWindow(window, windowMs, now, 1), [])

    expect(windowOf(10 * parts, at(WINDOW_ENTRY_MAX + 1, 10))).toHaveLength(WINDOW_ENTRY_MAX + 1)
    expect(windowOf(10 * parts + 1, at(WINDOW_ENTRY_MAX + 1, 10)).length).toBeLessThanOrEqual(WINDOW_ENTRY_MAX - 10)
    expect(windowOf(10 * parts, at(WINDOW_ENTRY_MAX + 1, 5)).length).toBeGreaterThan(WINDOW_ENTRY_MAX / 2)
  })

  test('whatever is added, the entries are bounded, in order, complete, and late by less than a hundredth', () => {
    const steps = fc.array(fc.tuple(fc.nat({ max: 20 }), fc.integer({ min: 1, max: 9 })), { maxLength: 600 })
    fc.assert(
      fc.property(steps, fc.integer({ min: 100, max: 5_000 }), (drawn, windowMs) => {
        let window: readonly WindowEntry[] = []
        let now = 0
        const all: WindowEntry[] = []
        for (const [ms, weight] of drawn) {
          now += ms
          all.push({ at: now, weight })
          window = addToWindow(trimWindow(window, windowMs, now), windowMs, now, weight)
          expect(window.length).toBeLessThanOrEqual(WINDOW_ENTRY_MAX)
          expect(window.every(({ at }, i) => i === 0 || window[i - 1]!.at < at)).toBe(true)
          const exact = weightOf(all.filter(({ at }) => at > now - windowMs))
          const longer = weightOf(all.filter(({ at }) => at > now - windowMs - Math.ceil(windowMs / 100)))
          expect(weightOf(window)).toBeGreaterThanOrEqual(exact)
          expect(weightOf(window)).toBeLessThanOrEqual(longer)
        }
      }),
    )
  })
})

describe('refundWindow', () => {
  test('takes back from its own entry', () => {
    expect(refundWindow(entries([5, 2], [9, 4]), WINDOW_MS, 10, 9, 3)).toEqual(entries([5, 2], [9, 1]))
    expect(refundWindow(entries([5, 2], [9, 4]), WINDOW_MS, 10, 5, 2)).toEqual(entries([9, 4]))
  })

  test('takes back from the entry that it was merged into', () => {
    expect(refundWindow(entries([5, 2], [9, 4]), WINDOW_MS, 10, 7, 1)).toEqual(entries([5, 2], [9, 3]))
  })

  test('takes back no more than its entry has', () => {
    expect(refundWindow(entries([5, 2], [9, 4]), WINDOW_MS, 10, 5, 3)).toEqual(entries([9, 4]))
  })

  test('changes nothing if the admission counts no more', () => {
    expect(refundWindow(entries([1_500, 4]), WINDOW_MS, 1_600, 600, 3)).toEqual(entries([1_500, 4]))
  })
})

describe('fitsAt', () => {
  const rate = { count: 10, windowMs: WINDOW_MS }

  test.each([
    { window: entries([1, 9]), weight: 1, at: 50 },
    { window: entries([1, 9]), weight: 2, at: 1 + WINDOW_MS },
    { window: entries([1, 3], [7, 5], [9, 2]), weight: 3, at: 1 + WINDOW_MS },
    { window: entries([1, 3], [7, 5], [9, 2]), weight: 4, at: 7 + WINDOW_MS },
    { window: entries([1, 3], [7, 5], [9, 2]), weight: 10, at: 9 + WINDOW_MS },
    { window: entries([1, 3], [7, 5], [9, 2]), weight: 11, at: 50 + WINDOW_MS },
  ])('$weight beside $window fits at $at', ({ window, weight, at }) => {
    expect(fitsAt(window, rate, weight, 50)).toBe(at)
  })
})
