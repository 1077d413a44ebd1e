/**
 * Clock, timers, ids and randomness: the only place that uses the global ones. All other code outside the kernel receives a
 * `Runtime`, so that tests can control time and randomness.
 */
import { randomFillSync } from 'node:crypto'

export interface Timer {
  cancel(): void
}

export interface Runtime {
  /** Milliseconds since the epoch, by the local clock. */
  now(): number
  /** Milliseconds of a monotonic clock, for measuring durations. */
  monotonic(): number
  /** Calls back once after a time. The timer does not keep the process alive when `background` is set. */
  after(ms: number, callback: () => void, options?: { background?: boolean }): Timer
  /** Calls back after the current callback and its microtasks, before the event loop continues: always before `soon`. */
  nextTick(callback: () => void): void
  /** Calls back in the next iteration of the event loop. */
  soon(callback: () => void): void
  /** A version 7 UUID. Ids of one process sort in the order of their creation. */
  uuid(): string
  /** A fraction in [0, 1). */
  random(): number
}

/** The maximum delay of a platform timer. */
const LONGEST_TIMER_MS = 2_147_483_647

export function systemRuntime(): Runtime {
  const uuid = uuidGenerator(() => Date.now())
  return {
    now: () => Date.now(),
    monotonic: () => performance.now(),
    after(ms, callback, options) {
      const handle = setTimeout(callback, Math.min(Math.max(0, ms), LONGEST_TIMER_MS))
      if (options?.background === true) handle.unref()
      return { cancel: () => clearTimeout(handle) }
    },
    nextTick: (callback) => process.nextTick(callback),
    soon: (callback) => void setImmediate(callback),
    uuid,
    random: () => Math.random(),
  }
}

const POOL_BYTES = 4_096
const RANDOM_BYTES_PER_ID = 8
const HEX_DIGITS = Buffer.from('0123456789abcdef')
/** What all version 7 UUIDs have in common: the dashes and the version. */
const UUID_FORM = '........-....-7...-....-............'
const TWO_BYTES = 65_536

/** Generates version 7 UUIDs: 48 bits of time, a 12-bit counter within the millisecond, and random bits. */
export function uuidGenerator(now: () => number): () => string {
  const pool = Buffer.alloc(POOL_BYTES)
  // A text that is read from bytes is flat. One that is put together from parts is copied again when it is first used.
  const text = Buffer.from(UUID_FORM)
  let used = POOL_BYTES
  let lastMs = 0
  let counter = 0
  const put = (value: number, at: number, digitCount: number): void => {
    let rest = value
    for (let i = at + digitCount - 1; i >= at; i--) {
      text[i] = HEX_DIGITS[rest & 15] as number
      rest >>>= 4
    }
  }
  return () => {
    if (used + RANDOM_BYTES_PER_ID > POOL_BYTES) {
      randomFillSync(pool)
      used = 0
    }
    const first = pool[used] as number
    const ms = now()
    if (ms > lastMs) {
      lastMs = ms
      counter = first & 0x7f
    } else {
      counter += 1
      if (counter > 0xfff) {
        lastMs += 1
        counter = 0
      }
    }
    put(Math.floor(lastMs / TWO_BYTES), 0, 8)
    put(lastMs % TWO_BYTES, 9, 4)
    put(counter, 15, 3)
    put(8 | ((first >> 4) & 3), 19, 1)
    put(((first & 15) << 8) | (pool[used + 1] as number), 20, 3)
    for (let i = 2; i < RANDOM_BYTES_PER_ID; i++) put(pool[used + i] as number, 20 + 2 * i, 2)
    used += RANDOM_BYTES_PER_ID
    return text.toString('latin1')
  }
}

/** A seed for the kernel: an integer from 1 to 2^31 - 2. */
export function randomSeed(runtime: Runtime): number {
  return 1 + Math.floor(runtime.random() * 2_147_483_645)
}

/** Resolves after a time, or when the signal aborts. Never rejects. */
export function sleep(runtime: Runtime, ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted === true) {
      resolve()
      return
    }
    const finish = () => {
      timer.cancel()
      signal?.removeEventListener('abort', finish)
      resolve()
    }
    const timer = runtime.after(ms, finish)
    signal?.addEventListener('abort', finish, { once: true })
  })
}

/** Resolves once the work has ended, well or not, or after a time. Never rejects. */
export async function endWithin(runtime: Runtime, ms: number, work: Promise<unknown>): Promise<void> {
  const ended = new AbortController()
  const end = () => ended.abort()
  work.then(end, end)
  await sleep(runtime, ms, ended.signal)
}
