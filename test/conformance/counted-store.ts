/** A store that counts its batches and reads of the log in flight, so that a test can wait for a server before it advances the clock. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Store } from '../../src/stores/store.ts'

/** A batch may itself wait for the clock of the test, so the test waits for this long at most. */
const ANSWER_WAIT_MS = 25

export interface CountedStore {
  readonly store: Store
  /** Resolves when nothing is in flight, or after a while. */
  untilAnswered(): Promise<void>
}

export function countedStore(original: Store): CountedStore {
  let inFlight = 0
  let idle = Promise.withResolvers<undefined>()
  const counted = async <T>(answer: Promise<T>): Promise<T> => {
    inFlight += 1
    try {
      return await answer
    } finally {
      inFlight -= 1
      if (inFlight === 0) {
        idle.resolve(undefined)
        idle = Promise.withResolvers()
      }
    }
  }
  const run: Store['run'] = (...batch) => counted(original.run(...batch))
  const readEvents: Store['readEvents'] = (...range) => counted(original.readEvents(...range))
  const store = new Proxy(original, {
    get(target, name) {
      if (name === 'run') return run
      if (name === 'readEvents') return readEvents
      const value: unknown = Reflect.get(target, name, target)
      return typeof value === 'function' ? (value.bind(target) as unknown) : value
    },
  })
  return {
    store,
    async untilAnswered() {
      if (inFlight === 0) return
      const over = new AbortController()
      await Promise.race([
        idle.promise,
        sleep(ANSWER_WAIT_MS, undefined, { signal: over.signal }).catch(() => undefined),
      ])
      over.abort()
    },
  }
}
