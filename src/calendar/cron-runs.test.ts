import { Cron } from 'croner'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { CronRuns, REMEMBERED_RUNS_MAX } from './cron-runs.ts'

const zones = ['UTC', 'Europe/Berlin', 'America/New_York', 'Australia/Lord_Howe', 'America/Santiago'] as const
const crons = ['0 * * * *', '30 2 * * *', '*/20 1-3 * * *', '0 0 29 2 *', '30 15 1 * * *', '0 0 L * MON'] as const
/** From before the clocks change in spring until after it. */
const FROM = Date.parse('2026-03-01T00:00Z')
const SPAN_MS = 45 * 24 * 3_600_000

function cronOf(cron: string, timeZone = 'UTC'): Cron {
  return new Cron(cron, { timezone: timeZone, mode: '5-or-6-parts' })
}

test('the next run is that of the expression, whatever was asked before', () => {
  const instant = fc.integer({ min: FROM, max: FROM + SPAN_MS })
  fc.assert(
    fc.property(
      fc.constantFrom(...zones),
      fc.constantFrom(...crons),
      fc.array(fc.record({ at: instant, count: fc.nat(5) }), { minLength: 1, maxLength: 8 }),
      (timeZone, expression, asked) => {
        const cron = cronOf(expression, timeZone)
        const runs = new CronRuns(cron)
        for (const { at, count } of asked) {
          let from = at
          for (let i = 0; i <= count; i++) {
            const next = runs.next(from)
            expect(next).toBe(cron.nextRun(new Date(from))?.getTime())
            from = next ?? from
          }
        }
      },
    ),
    { numRuns: 100 },
  )
})

test('runs that were computed are not computed again, from any instant before them', () => {
  const cron = cronOf('0 * * * *')
  let computed = 0
  const runs = new CronRuns(
    Object.assign(Object.create(cron) as Cron, { nextRun: (at: Date) => (computed++, cron.nextRun(at)) }),
  )
  const hour = 3_600_000
  for (let i = 0; i < 10; i++) runs.next(FROM + i * hour)
  expect(computed).toBe(10)

  for (let i = 0; i < 10; i++) expect(runs.next(FROM + i * hour + 1_234)).toBe(FROM + (i + 1) * hour)

  expect(computed).toBe(10)
})

test('a long stretch keeps its younger part, and an instant before that is answered too', () => {
  const runs = new CronRuns(cronOf('* * * * *'))
  const minute = 60_000
  for (let i = 0; i < 3 * REMEMBERED_RUNS_MAX; i++) expect(runs.next(FROM + i * minute)).toBe(FROM + (i + 1) * minute)

  expect(runs.next(FROM)).toBe(FROM + minute)
})

test('an expression without a further run has none', () => {
  const runs = new CronRuns(cronOf('2026-03-02T00:00:00'))
  expect(runs.next(FROM)).toBe(Date.parse('2026-03-02T00:00Z'))

  expect(runs.next(FROM + SPAN_MS)).toBeUndefined()
  expect(runs.next(FROM)).toBe(Date.parse('2026-03-02T00:00Z'))
})
