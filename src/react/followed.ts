/**
 * A value that is followed over the network while at least one component shows it. The connection opens with the first subscriber and
 * closes with the last, so an unmounted component, and the mount that StrictMode repeats, leave nothing behind. What was received
 * is kept: the next subscriber continues where the last one has ended.
 */
import { useSyncExternalStore } from 'react'
import { EngineError } from '../kernel/engine-error.ts'

/**
 * `idle`: there is no execution to follow yet. `broken`: the connection is made again. `failed`: the server has refused, and nothing
 * is sent any more.
 */
export type FollowStatus = 'idle' | 'connecting' | 'live' | 'broken' | 'ended' | 'failed'

export interface Following {
  readonly status: FollowStatus
  /** Why it is broken or has failed. */
  readonly error: EngineError | undefined
}

/** Follows until the end, which is its return. Throws what ends it early. */
export type Follow<View> = (change: (update: (view: View) => View) => void, signal: AbortSignal) => Promise<void>

/** Pauses between attempts to connect. */
const PAUSE_MS = 1_000
const PAUSE_MAX_MS = 30_000

/** Changes that arrive together are shown together. */
const SOON_MS = 16

export class Followed<View extends Following> {
  #view: View
  #shown: View
  #leave: AbortController | undefined
  #notice: ReturnType<typeof setTimeout> | undefined
  readonly #listeners = new Set<() => void>()
  readonly #follow: Follow<View> | undefined
  readonly #toShow: (view: View) => View

  /** Without a function to follow, it stays as it is. `toShow` adds what is expensive to compute with each change. */
  constructor(view: View, follow: Follow<View> | undefined, toShow: (view: View) => View = (same) => same) {
    this.#view = view
    this.#shown = view
    this.#follow = follow
    this.#toShow = toShow
  }

  readonly view = (): View => this.#shown

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener)
    if (this.#leave === undefined && this.#follow !== undefined) void this.#run(this.#follow)
    return () => {
      this.#listeners.delete(listener)
      if (this.#listeners.size > 0) return
      this.#leave?.abort()
      this.#leave = undefined
      clearTimeout(this.#notice)
      this.#notice = undefined
      // What has ended sends no further notice to a later subscriber.
      this.#shown = this.#toShow(this.#view)
    }
  }

  async #run(follow: Follow<View>): Promise<void> {
    if (this.#view.status === 'ended' || this.#view.status === 'failed') return
    const leave = new AbortController()
    this.#leave = leave
    const { signal } = leave
    const hasLeft = () => signal.aborted
    for (let pauseMs = PAUSE_MS; !hasLeft(); pauseMs = Math.min(2 * pauseMs, PAUSE_MAX_MS)) {
      try {
        await follow((update) => {
          if (hasLeft()) return
          pauseMs = PAUSE_MS
          this.#change({ ...update(this.#view), status: 'live', error: undefined })
        }, signal)
        if (!hasLeft()) this.#change({ ...this.#view, status: 'ended', error: undefined })
        return
      } catch (error) {
        if (hasLeft()) return
        const known = error instanceof EngineError ? error : new EngineError('internal_error', {}, { cause: error })
        this.#change({ ...this.#view, status: known.isRetryable ? 'broken' : 'failed', error: known })
        if (!known.isRetryable) return
      }
      await pause(pauseMs, signal)
    }
  }

  #change(view: View): void {
    this.#view = view
    this.#notice ??= later(SOON_MS, () => {
      this.#notice = undefined
      this.#shown = this.#toShow(this.#view)
      for (const listener of this.#listeners) listener()
    })
  }
}

/** Shows what is followed. On a server, it shows the beginning. */
export function useFollowed<View extends Following>(followed: Followed<View>): View {
  return useSyncExternalStore(followed.subscribe, followed.view, followed.view)
}

function later(ms: number, callback: () => void): ReturnType<typeof setTimeout> {
  // eslint-disable-next-line no-restricted-globals -- The runtime of the library needs Node, and a browser has none.
  return setTimeout(callback, ms)
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const finish = () => {
      clearTimeout(timer)
      signal.removeEventListener('abort', finish)
      resolve()
    }
    const timer = later(ms, finish)
    signal.addEventListener('abort', finish, { once: true })
  })
}
