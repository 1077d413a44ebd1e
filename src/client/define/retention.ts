/** How long ended executions are kept: one time for all, or one for each outcome; and how many of a task at most. */
import { shape, wholeNumber } from '../../options/shape.ts'
import { KEEP_MAX } from '../../kernel/limits.ts'
import type { Retentions } from '../../kernel/model/records.ts'
import { parseDuration } from './duration.ts'
import type { Duration } from './duration.ts'

/** Outcomes that are left out have the retention of the task, or the default of 24 hours. */
export interface RetentionOptions {
  readonly completed?: Duration
  readonly failed?: Duration
  readonly cancelled?: Duration
  readonly expired?: Duration
  readonly skipped?: Duration
  /** Ended executions of the task that are kept at most, whatever their outcomes: the newest ones. */
  readonly keep?: number
}

const retentionOptions = shape<RetentionOptions>()("{ completed: '1h', failed: '30d' }", {
  completed: parseDuration,
  failed: parseDuration,
  cancelled: parseDuration,
  expired: parseDuration,
  skipped: parseDuration,
  keep: wholeNumber(1, KEEP_MAX),
})

type ParsedRetention = number | ReturnType<typeof retentionOptions>

export function parseRetention(value: unknown, field: string): ParsedRetention {
  return typeof value === 'object' && value !== null ? retentionOptions(value, field) : parseDuration(value, field)
}

interface Retention {
  readonly retentionMs: number
  readonly retentions: Retentions | undefined
}

/** Returns a retention with another one applied: one time replaces everything, and outcomes replace those of the same name. */
export function overrideRetention(
  { retentionMs, retentions }: Retention,
  given: ParsedRetention | undefined,
): Retention {
  if (given === undefined) return { retentionMs, retentions }
  if (typeof given === 'number') return { retentionMs: given, retentions: undefined }
  const names = Object.keys(retentionOptions.checks) as (keyof Retentions)[]
  const merged = names.map((name) => [name, given[name] ?? retentions?.[name]])
  return { retentionMs, retentions: Object.fromEntries(merged) as Retentions }
}
