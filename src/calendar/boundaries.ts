/**
 * The boundaries of a timing: the instants at which a schedule fires, without its jitter. A cron expression is read in its time zone.
 * With one hour, one minute and one second it has one boundary on each of its days, also when the clocks change: a local time that
 * does not exist becomes the first instant after the gap, and of a local time that comes twice the first counts. Any other expression
 * has a boundary whenever the local time matches: none in the gap, two for a time that comes twice.
 */
import { Cron } from 'croner'
import type { Instant, ScheduleTiming } from '../kernel/index.ts'
import { INSTANT_MAX } from '../kernel/limits.ts'
import { CronRuns } from './cron-runs.ts'

const SECOND_MS = 1_000

/** Expressions that were parsed, by zone and text. */
const parsed = new Map<string, CronRuns>()
const PARSED_MAX = 1_000

/** Parses a cron expression. Throws if it or the zone is not valid. */
export function parseCron(cron: string, timeZone: string): Cron {
  return runsOf(cron, timeZone).cron
}

function runsOf(cron: string, timeZone: string): CronRuns {
  const key = `${timeZone} ${cron}`
  const known = parsed.get(key)
  if (known !== undefined) return known
  const made = new CronRuns(new Cron(cron, { timezone: timeZone, mode: '5-or-6-parts' }))
  // An unknown zone is noticed only when it is used.
  made.cron.nextRun(new Date(0))
  if (parsed.size >= PARSED_MAX) parsed.clear()
  parsed.set(key, made)
  return made
}

/** Returns up to `count` boundaries after an instant, ascending. */
export function boundariesAfter(timing: ScheduleTiming, after: Instant, count: number): Instant[] {
  const { fromAt = 0, untilAt = INSTANT_MAX } = timing
  const from = Math.max(after, fromAt - 1)
  const found: Instant[] = []
  let at = nextAfter(timing, from)
  while (at !== undefined && at < untilAt && found.length < count) {
    found.push(at)
    at = nextAfter(timing, at)
  }
  return found
}

/** Returns up to `count` boundaries up to an instant, which is included, latest first. */
export function boundariesUpTo(timing: ScheduleTiming, upTo: Instant, count: number): Instant[] {
  const { fromAt = 0, untilAt = Infinity } = timing
  const last = Math.min(upTo, untilAt - 1)
  return latestUpTo(timing, last, count).filter((at) => at >= fromAt)
}

function nextAfter(
  { cron, timeZone = 'UTC', everyMs = 0, originAt = 0 }: ScheduleTiming,
  after: Instant,
): Instant | undefined {
  if (cron !== undefined) return runsOf(cron, timeZone).next(after)
  return originAt + Math.max(0, Math.floor((after - originAt) / everyMs) + 1) * everyMs
}

function latestUpTo(timing: ScheduleTiming, upTo: Instant, count: number): Instant[] {
  const { cron, timeZone = 'UTC', everyMs = 0, originAt = 0 } = timing
  if (cron !== undefined) {
    // Runs before the next whole second are those up to this instant.
    const before = new Date((Math.floor(upTo / SECOND_MS) + 1) * SECOND_MS)
    return parseCron(cron, timeZone)
      .previousRuns(count, before)
      .map((date) => date.getTime())
  }
  const latest = originAt + Math.floor((upTo - originAt) / everyMs) * everyMs
  const all = Array.from({ length: count }, (_, i) => latest - i * everyMs)
  return all.filter((at) => at >= originAt)
}
