/**
 * Remembers a stretch of consecutive runs of a cron expression, since computing one converts between time zones many times. Many
 * schedules have one expression and are planned at the same time, and one schedule asks again from nearly the same instant.
 */
import type { Cron } from 'croner'
import type { Instant } from '../kernel/index.ts'

/** The most runs that are remembered. The older half is dropped then. */
export const REMEMBERED_RUNS_MAX = 512

export class CronRuns {
  readonly cron: Cron
  /** There is no run after this instant and before the first that is remembered. */
  #since: Instant = 0
  #runs: Instant[] = []

  constructor(cron: Cron) {
    this.cron = cron
  }

  /** Returns the first run after an instant; undefined if none follows. */
  next(after: Instant): Instant | undefined {
    const last = this.#runs.at(-1)
    if (last === undefined || after < this.#since || after > last) this.#beginAt(after)
    else if (after < last) return this.#runs[this.#countUpTo(after)]
    const run = this.cron.nextRun(new Date(after))?.getTime()
    if (run !== undefined) this.#append(run)
    return run
  }

  #beginAt(since: Instant): void {
    this.#since = since
    this.#runs = []
  }

  #append(run: Instant): void {
    if (this.#runs.length >= REMEMBERED_RUNS_MAX) {
      const dropped = this.#runs.splice(0, REMEMBERED_RUNS_MAX / 2)
      this.#since = dropped.at(-1) ?? this.#since
    }
    this.#runs.push(run)
  }

  /** Counts the remembered runs up to an instant. */
  #countUpTo(instant: Instant): number {
    let low = 0
    let high = this.#runs.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((this.#runs[middle] ?? Infinity) <= instant) low = middle + 1
      else high = middle
    }
    return low
  }
}
