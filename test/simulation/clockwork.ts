/** Virtual time: it passes only when it is advanced. Timers of a process end with the process. */
import type { Timer } from '../../src/runtime/index.ts'

/** A process, as far as its timers are concerned. */
export interface TimerOwner {
  readonly name: string
  /** Until then its timers do not fire. */
  readonly pausedUntil: number
}

export interface PendingTimer {
  /** On the clock of the world, in milliseconds since it began. */
  readonly at: number
  readonly order: number
  /** Whose timer it is; the world's own has no owner. */
  readonly owner: TimerOwner | undefined
  readonly callback: () => void
}

export class Clockwork {
  elapsedMs = 0
  readonly #timers = new Set<PendingTimer>()
  #order = 0

  after(ms: number, callback: () => void, owner?: TimerOwner): Timer {
    const timer: PendingTimer = { at: this.elapsedMs + Math.max(0, ms), order: this.#order++, owner, callback }
    this.#timers.add(timer)
    return { cancel: () => void this.#timers.delete(timer) }
  }

  /** Those that could fire now. */
  due(): PendingTimer[] {
    return [...this.#timers].filter((timer) => timer.at <= this.elapsedMs && isAwake(timer, this.elapsedMs))
  }

  fire(timer: PendingTimer): void {
    if (this.#timers.delete(timer)) timer.callback()
  }

  /** The moment at which the next timer can fire. */
  nextAt(): number | undefined {
    let next: number | undefined
    for (const { at, owner } of this.#timers) {
      const moment = Math.max(at, owner?.pausedUntil ?? 0)
      if (next === undefined || moment < next) next = moment
    }
    return next
  }

  advanceTo(moment: number): void {
    this.elapsedMs = Math.max(this.elapsedMs, moment)
  }

  forget(owner: TimerOwner): void {
    for (const timer of this.#timers) if (timer.owner === owner) this.#timers.delete(timer)
  }
}

function isAwake({ owner }: PendingTimer, elapsedMs: number): boolean {
  return owner === undefined || owner.pausedUntil <= elapsedMs
}
