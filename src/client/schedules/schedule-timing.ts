/** The times of a schedule as they are stored: checked, and with their digest. */
import { createHash } from 'node:crypto'
import { boundariesAfter, parseCron } from '../../calendar/boundaries.ts'
import type { Instant, ScheduleTiming } from '../../kernel/index.ts'
import { EngineError } from '../../kernel/engine-error.ts'
import { wholeNumber } from '../../options/shape.ts'
import { invalidInput } from '../checks/names.ts'
import { parseFiringTimes } from '../define/schedule.ts'
import type { FiringTimes, ParsedTimes } from '../define/schedule.ts'

export const NEXT_DEFAULT = 5
export const checkNextCount = wholeNumber(0, 1_000)

/** Throws if the times cannot be read, or never fire. */
export function timingOf({ cron, every, timeZone, jitter, from, until }: ParsedTimes): ScheduleTiming {
  const timing = {
    cron,
    timeZone: cron === undefined ? undefined : (timeZone ?? 'UTC'),
    everyMs: every,
    originAt: every === undefined ? undefined : (from ?? 0),
    jitterMs: jitter ?? 0,
    fromAt: from,
    untilAt: until,
  }
  checkTiming(timing)
  return timing
}

/** `names` are those of the nodes of a flow: the ids of planned members follow from them. */
export function timingDigestOf(timing: ScheduleTiming, names: readonly string[] | undefined): string {
  return digestOf(names === undefined ? timing : [timing, names])
}

/** Returns the next boundaries of times, without a schedule that has them. */
export function boundariesOf(options: FiringTimes, after: Instant, next: number | undefined): readonly Instant[] {
  const count = next === undefined ? NEXT_DEFAULT : checkNextCount(next, 'next')
  return boundariesAfter(timingOf(parseFiringTimes(options)), after, count)
}

function checkTiming(timing: ScheduleTiming): void {
  const { cron, timeZone = 'UTC' } = timing
  if (cron !== undefined) {
    checkZone(timeZone)
    try {
      parseCron(cron, timeZone)
    } catch (cause) {
      const reason = cause instanceof Error ? cause.message : String(cause)
      const message = `cron ${JSON.stringify(cron)} is no cron expression of five or six fields: ${reason}`
      throw new EngineError('invalid_input', { field: 'cron', message }, { cause })
    }
  }
  if (boundariesAfter(timing, 0, 1).length > 0) return
  throw invalidInput(
    cron === undefined ? 'every' : 'cron',
    'The schedule would never fire: no boundary is between from and until.',
  )
}

function checkZone(timeZone: string): void {
  try {
    new Intl.DateTimeFormat('en', { timeZone })
  } catch (cause) {
    const message = `timeZone ${JSON.stringify(timeZone)} is not known here. Use an IANA name such as 'Europe/Berlin'.`
    throw new EngineError('invalid_input', { field: 'timeZone', message }, { cause })
  }
}

export function digestOf(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('base64url')
}
