/** Says which boundaries of a schedule fire, from its timing and the times at which an engine ran. */
import { boundariesAfter } from '../../src/calendar/boundaries.ts'
import { firingAt } from '../../src/calendar/firing.ts'
import { SCHEDULE_MISSED_AFTER_MS, SCHEDULE_MISSED_MAX } from '../../src/kernel/index.ts'
import type { MissedPolicy, PlannedFiring, ScheduleTiming } from '../../src/kernel/index.ts'

/** More than any test passes. */
const BOUNDARIES_MAX = 20_000

export class ScheduleOracle {
  readonly #schedule: { readonly id: string; readonly timing: ScheduleTiming }
  readonly #missed: MissedPolicy
  /** Known so far, in the order of their firing. */
  readonly #all: PlannedFiring[] = []
  #knownUntil: number
  #handled = 0

  constructor(id: string, timing: ScheduleTiming, missed: MissedPolicy, from: number) {
    this.#schedule = { id, timing }
    this.#missed = missed
    this.#knownUntil = from
  }

  /** Computes the boundaries up to an instant. */
  #lookAhead(until: number): void {
    if (until <= this.#knownUntil) return
    const { timing } = this.#schedule
    const window = { ...timing, untilAt: Math.min(timing.untilAt ?? Infinity, until + 1) }
    const found = boundariesAfter(window, this.#knownUntil, BOUNDARIES_MAX)
    this.#all.push(...found.map((at) => firingAt(this.#schedule, at, 0)))
    this.#knownUntil = until
  }

  /** Whether a boundary becomes due or missed between two instants. */
  changesUntil(now: number, until: number): boolean {
    this.#lookAhead(until)
    return this.#all
      .slice(this.#handled)
      .some(({ fireAt }) =>
        [fireAt, fireAt + SCHEDULE_MISSED_AFTER_MS + 1].some((change) => change > now && change <= until),
      )
  }

  /** Returns the boundaries that an engine fires now, in order, if nothing overlaps. */
  run(now: number): PlannedFiring[] {
    this.#lookAhead(now)
    const due: PlannedFiring[] = []
    for (let next = this.#all[this.#handled]; next !== undefined && next.fireAt <= now;) {
      due.push(next)
      this.#handled += 1
      next = this.#all[this.#handled]
    }
    const isMissed = ({ fireAt }: PlannedFiring) => fireAt + SCHEDULE_MISSED_AFTER_MS < now
    const missed = due.filter(isMissed)
    const inTime = due.filter((firing) => !isMissed(firing))
    switch (this.#missed) {
      case 'skip':
        return inTime
      case 'last':
        return inTime.length > 0 ? inTime : missed.slice(-1)
      case 'all':
        return [...missed.slice(-SCHEDULE_MISSED_MAX), ...inTime]
    }
  }
}
