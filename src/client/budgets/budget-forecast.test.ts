import { expect, test } from 'vitest'
import { forecastOf } from './budget-forecast.ts'

const DAY = 24
const after = (at: number, spent: number, reports: number) => forecastOf(spent, reports, { since: 0, at, until: DAY })

test('continues the rate of the period so far', () => {
  expect([after(12, 100, 50), after(18, 90, 3), after(6, 25, 10)]).toEqual([200, 120, 100])
})

test('is unknown just after a period begins, however much was spent', () => {
  expect([after(0, 1_000, 1), after(0.001, 1_000, 500), after(1, 1_000, 500)]).toEqual([
    undefined,
    undefined,
    undefined,
  ])
  expect(after(1.2, 1_000, 500)).toBe(20_000)
})

test('needs more reports the less has passed: one counts at half the period', () => {
  expect([after(6, 100, 1), after(12, 100, 1)]).toEqual([undefined, 200])
  expect([after(3, 100, 3), after(3, 100, 4)]).toEqual([undefined, 800])
})

test('nothing spent in half the period is a rate, too, and a period that is over has its sum', () => {
  expect([after(6, 0, 0), after(12, 0, 0), after(24, 7, 1), after(30, 7, 1)]).toEqual([undefined, 0, 7, 7])
})
