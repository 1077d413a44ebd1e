/** What befalls a call on its way to the store and back, and a wake-up on its way to a process. */
import type { Chance } from './chance.ts'

export type Fate =
  | { readonly kind: 'served' }
  /** Refused before it had any effect. */
  | { readonly kind: 'refused'; readonly code: 'store_unavailable' | 'store_busy' }
  /** It took effect, and its reply is lost. */
  | { readonly kind: 'reply_lost' }
  /** It takes effect twice, at once or with a pause between; one reply comes back. */
  | { readonly kind: 'repeated'; readonly afterMs: number }
  /** Only its first calls are run. */
  | { readonly kind: 'cut'; readonly keep: number }

export interface WakeFate {
  readonly isLost: boolean
  readonly delayMs: number
  /** The wake-up carries no details. */
  readonly isVague: boolean
}

export interface Weather {
  /** How long a call is on its way before the store can see it. */
  delayOf(): number
  fateOf(callCount: number): Fate
  wakeFate(): WakeFate
}

const SERVED: Fate = { kind: 'served' }

export const calm: Weather = {
  delayOf: () => 0,
  fateOf: () => SERVED,
  wakeFate: () => ({ isLost: false, delayMs: 0, isVague: false }),
}

/** How often each fault happens: for each call, each wake-up, or each step of the scheduler. */
export interface FaultRates {
  readonly crash: number
  readonly graceful_stop: number
  readonly pause: number
  readonly store_clock_jump: number
  readonly own_clock_jump: number
  readonly outage: number
  readonly refused: number
  readonly reply_lost: number
  readonly repeated: number
  readonly cut: number
  readonly delayed: number
  readonly wake_lost: number
  readonly wake_delayed: number
  readonly wake_vague: number
}

export type FaultName = keyof FaultRates

/** The longest that a call or a wake-up is on its way: longer than any lease. */
const DELAY_MAX_MS = 4_000
/** Most delays are shorter than this. */
const USUAL_DELAY_MS = 200
const LONG_DELAY_RATE = 0.3
/** The share of refusals with `busy`, which a client does not retry by itself. */
const BUSY_RATE = 0.2
/** How much later a repetition of a call has its effect. */
const ECHO_MAX_MS = 2_000

function someDelayMs(chance: Chance): number {
  return chance.between(1, chance.happens(LONG_DELAY_RATE) ? DELAY_MAX_MS : USUAL_DELAY_MS)
}

/** Every fault has a stream of chance of its own, so that leaving one out leaves the others as they were. */
export function stormy(rates: FaultRates, seeded: Chance): Weather {
  const streams = new Map<FaultName, Chance>()
  const streamOf = (name: FaultName): Chance => {
    const stream = streams.get(name) ?? seeded.fork(name)
    streams.set(name, stream)
    return stream
  }
  const happens = (name: FaultName) => streamOf(name).happens(rates[name])
  const delayMs = (name: FaultName) => (happens(name) ? someDelayMs(streamOf(name)) : 0)
  return {
    delayOf: () => delayMs('delayed'),
    fateOf(callCount) {
      if (happens('refused')) {
        return { kind: 'refused', code: streamOf('refused').happens(BUSY_RATE) ? 'store_busy' : 'store_unavailable' }
      }
      if (happens('reply_lost')) return { kind: 'reply_lost' }
      if (happens('repeated')) {
        const stream = streamOf('repeated')
        return { kind: 'repeated', afterMs: stream.happens(0.5) ? 0 : stream.between(1, ECHO_MAX_MS) }
      }
      if (callCount < 2 || !happens('cut')) return SERVED
      return { kind: 'cut', keep: streamOf('cut').between(1, callCount - 1) }
    },
    wakeFate: () => ({
      isLost: happens('wake_lost'),
      delayMs: delayMs('wake_delayed'),
      isVague: happens('wake_vague'),
    }),
  }
}
