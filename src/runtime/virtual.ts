/** A runtime with a virtual clock. Timers fire in order as the clock advances; event-loop iterations are real. */
import { uuidGenerator } from './runtime.ts'
import type { Runtime, Timer } from './runtime.ts'

interface PendingTimer {
  readonly at: number
  readonly order: number
  readonly callback: () => void
}

export interface VirtualRuntime extends Runtime {
  /** Advances the clock. Fires each timer at its time, and lets its effects settle before the next. */
  advance(ms: number): Promise<void>
  /** Moves the wall clock, forwards or backwards, without firing timers. */
  jump(ms: number): void
  /** When the next timer fires, if there is one. */
  nextTimerAt(): number | undefined
}

export interface VirtualOptions {
  /**
   * When the effects of a timer count as settled: after a fixed number of event-loop iterations, or with `quiet` once the clock
   * was not read during as many. Every call to a store reads the clock.
   */
  readonly settle?: 'turns' | 'quiet'
}

/** Event-loop iterations after which the effects of a timer count as settled. */
const SETTLE_TURNS = 12
/** Maximum event-loop iterations to wait for `quiet` before the clock advances anyway. */
const QUIET_TURNS_MAX = 100_000

export function virtualRuntime(startAt = 1_700_000_000_000, seed = 1, options: VirtualOptions = {}): VirtualRuntime {
  let elapsed = 0
  /** The clock minus `elapsed`. Kept apart, so that rounding errors do not accumulate. */
  let offset = startAt
  let order = 0
  let randomState = seed
  let clockReadCount = 0
  const timers = new Set<PendingTimer>()

  const first = (): PendingTimer | undefined => {
    let best: PendingTimer | undefined
    for (const timer of timers) {
      if (best === undefined || timer.at < best.at || (timer.at === best.at && timer.order < best.order)) best = timer
    }
    return best
  }
  const settle = async () => {
    let previousCount: number
    let turnCount = 0
    do {
      previousCount = clockReadCount
      for (let i = 0; i < SETTLE_TURNS; i++) await new Promise((resolve) => setImmediate(resolve))
      turnCount += SETTLE_TURNS
    } while (options.settle === 'quiet' && clockReadCount !== previousCount && turnCount < QUIET_TURNS_MAX)
  }
  const now = () => {
    clockReadCount++
    return Math.floor(offset + elapsed)
  }

  return {
    // Timers may be due at fractions of a millisecond; the clock returns whole milliseconds.
    now,
    monotonic: () => elapsed,
    after(ms, callback): Timer {
      const timer: PendingTimer = { at: elapsed + Math.max(0, ms), order: order++, callback }
      timers.add(timer)
      return { cancel: () => void timers.delete(timer) }
    },
    nextTick: (callback) => process.nextTick(callback),
    soon: (callback) => void setImmediate(callback),
    uuid: uuidGenerator(() => Math.floor(offset + elapsed)),
    random() {
      randomState = (randomState * 16_807) % 2_147_483_647
      return randomState / 2_147_483_647
    },
    async advance(ms) {
      const end = elapsed + ms
      await settle()
      for (let timer = first(); timer !== undefined && timer.at <= end; timer = first()) {
        timers.delete(timer)
        elapsed = Math.max(elapsed, timer.at)
        timer.callback()
        await settle()
      }
      elapsed = end
      await settle()
    },
    jump(ms) {
      offset += ms
    },
    nextTimerAt: () => {
      const timer = first()
      return timer === undefined ? undefined : offset + timer.at
    },
  }
}
