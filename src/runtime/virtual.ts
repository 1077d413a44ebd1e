/** A runtime whose clock somebody moves by hand. Timers fire in order as the clock passes them; turns are real ones. */
import { uuidGenerator } from './runtime.ts'
import type { Runtime, Timer } from './runtime.ts'

interface PendingTimer {
  readonly at: number
  readonly order: number
  readonly callback: () => void
}

export interface VirtualRuntime extends Runtime {
  /** Moves the clock on by this much, firing each timer at its own moment and letting what it starts settle. */
  advance(ms: number): Promise<void>
  /** Sets the clock alone, also back, firing nothing. */
  jump(ms: number): void
  /** When the next timer fires, if any waits. */
  nextTimerAt(): number | undefined
}

export interface VirtualOptions {
  /**
   * When whatever a timer started is taken to have settled: after some turns of the event loop, or with `quiet` once nobody
   * has looked at the clock for as many. Every call to a store looks at it.
   */
  readonly settle?: 'turns' | 'quiet'
}

/** Turns of the event loop after which whatever a timer started is taken to have settled. */
const SETTLE_TURNS = 12
/** What does not become quiet within this many turns goes on while time passes. */
const QUIET_TURNS_MAX = 100_000

export function virtualRuntime(startAt = 1_700_000_000_000, seed = 1, options: VirtualOptions = {}): VirtualRuntime {
  let elapsed = 0
  /** Where the clock would stand without the time that has passed. One sum instead of many: no step is lost to rounding. */
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
    // Timers may stand between two milliseconds; clocks show whole ones.
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
