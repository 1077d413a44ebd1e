/** The terms of a limit: a rate, a cap, or both. */
import { LIMIT_COUNT_MAX } from '../../kernel/limits.ts'
import type { Rate } from '../../kernel/model/limit-schema.ts'
import { required, shape, wholeNumber } from '../../options/shape.ts'
import { invalidInput } from '../checks/names.ts'
import { parseDuration } from '../define/duration.ts'
import type { Duration } from '../define/duration.ts'

/** So much may start in any interval of this length. */
export interface RateOptions {
  readonly count: number
  readonly per: Duration
}

/** At least one rate or a cap. A rate admits weight, which is 1 for each execution unless the limit is used with another. */
export interface LimitOptions {
  readonly perSecond?: number
  readonly perMinute?: number
  readonly perHour?: number
  readonly perDay?: number
  /** A rate over any other interval: `{ count: 10, per: '15s' }`. */
  readonly rate?: RateOptions
  /** How many executions of one key may run at once, over all workers. */
  readonly concurrency?: number
}

/** The checked options. */
export interface LimitTerms {
  readonly rate: Rate | undefined
  readonly concurrency: number | undefined
}

export const RATE_PERIOD_MAX_MS = 31 * 86_400_000

const count = wholeNumber(1, LIMIT_COUNT_MAX)

const limitOptions = shape<LimitOptions>()('{ perMinute: 400, concurrency: 50 }', {
  perSecond: count,
  perMinute: count,
  perHour: count,
  perDay: count,
  rate: shape<RateOptions>()("{ count: 10, per: '15s' }", { count: required(count), per: required(checkPeriod) }),
  concurrency: count,
})

const PERIODS = { perSecond: 1_000, perMinute: 60_000, perHour: 3_600_000, perDay: 86_400_000 } as const

/** Checks the options of a limit. Any change of it takes the same ones. */
export function limitTerms(options: unknown, field = 'options'): LimitTerms {
  const { rate, concurrency, ...rest } = limitOptions(options, field)
  const rates: Rate[] = rate === undefined ? [] : [{ count: rate.count, windowMs: rate.per }]
  for (const [name, windowMs] of Object.entries(PERIODS)) {
    const given = rest[name as keyof typeof PERIODS]
    if (given !== undefined) rates.push({ count: given, windowMs })
  }
  if (rates.length > 1) {
    throw invalidInput(field, `${field} has ${rates.length} rates, but a limit has one. Define a limit for each rate.`)
  }
  if (rates.length === 0 && concurrency === undefined) {
    throw invalidInput(field, `${field} has neither a rate nor a concurrency, so nothing would be limited.`)
  }
  return { rate: rates[0], concurrency }
}

function checkPeriod(value: unknown, field: string): number {
  const ms = parseDuration(value, field, 1)
  if (ms <= RATE_PERIOD_MAX_MS) return ms
  throw invalidInput(field, `${field} is ${ms} ms, but must be at most ${RATE_PERIOD_MAX_MS} ms, which is 31 days.`)
}
