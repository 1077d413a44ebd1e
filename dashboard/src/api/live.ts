/**
 * Follows the event log of the server and reports what has changed, at most once in a while. The log is a hint: every view reads
 * its data from the API again, so a lost event costs freshness and nothing else.
 */
import { useEffect, useRef, useSyncExternalStore } from 'react'
import { addressOf } from './call.ts'
import { eventTypes } from './types.ts'
import type { Event as StoredEvent } from './types.ts'

export type LiveState = 'connecting' | 'live' | 'broken'

export type EventListener = (event: StoredEvent) => void

/** The browser gives up on a response that is an error, such as that of a proxy while the server restarts. */
const RECONNECT_MS = 2_000

/** Events that belong together arrive together. */
const SOON_MS = 50

class LiveLog {
  #source: EventSource | undefined
  #state: LiveState = 'connecting'
  #cursor: string | undefined
  #retry: ReturnType<typeof setTimeout> | undefined
  readonly #listeners = new Set<EventListener>()
  readonly #observers = new Set<() => void>()
  readonly #gaps = new Set<() => void>()

  get state(): LiveState {
    return this.#state
  }

  /** Starts to follow. Returns a function that stops it. */
  start(): () => void {
    this.#become('connecting')
    this.#open()
    return () => {
      this.#source?.close()
      this.#source = undefined
      clearTimeout(this.#retry)
    }
  }

  listen(listener: EventListener): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Called when events may have been missed, so that every view is read again. */
  onGap(listener: () => void): () => void {
    this.#gaps.add(listener)
    return () => this.#gaps.delete(listener)
  }

  observe(observer: () => void): () => void {
    this.#observers.add(observer)
    return () => this.#observers.delete(observer)
  }

  #open(): void {
    const source = new EventSource(addressOf('followEvents', { query: { cursor: this.#cursor } }))
    this.#source = source
    source.addEventListener('open', () => {
      const wasLive = this.#state === 'live'
      this.#become('live')
      // What happened before the stream began may be newer than what the views have read.
      if (!wasLive) for (const listener of this.#gaps) listener()
    })
    source.addEventListener('error', () => {
      this.#become('broken')
      if (source.readyState !== EventSource.CLOSED || this.#source !== source) return
      // The place in the log may be what the server refused, so the next stream starts at its end.
      this.#cursor = undefined
      this.#retry = setTimeout(() => this.#open(), RECONNECT_MS)
    })
    source.addEventListener('trimmed', () => {
      for (const listener of this.#gaps) listener()
    })
    for (const type of eventTypes) {
      source.addEventListener(type, (message: MessageEvent<string>) => {
        this.#cursor = message.lastEventId
        const event = JSON.parse(message.data) as StoredEvent
        for (const listener of this.#listeners) listener(event)
      })
    }
  }

  #become(state: LiveState): void {
    if (this.#state === state) return
    this.#state = state
    for (const observer of this.#observers) observer()
  }
}

export const liveLog = new LiveLog()

export function useLiveState(): LiveState {
  return useSyncExternalStore(
    (observer) => liveLog.observe(observer),
    () => liveLog.state,
  )
}

/** Calls a function soon after events that concern it: at once after a pause, and at most once in `everyMs` while they keep coming. */
export function useLive(concerns: (event: StoredEvent) => boolean, refresh: () => void, everyMs = 1_000): void {
  const latest = useRef({ concerns, refresh })
  useEffect(() => {
    latest.current = { concerns, refresh }
  })
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined
    let lastAt = 0
    const run = () => {
      timer = undefined
      lastAt = performance.now()
      latest.current.refresh()
    }
    const schedule = () => {
      timer ??= setTimeout(run, Math.max(SOON_MS, everyMs - (performance.now() - lastAt)))
    }
    const stopListening = liveLog.listen((event) => {
      if (latest.current.concerns(event)) schedule()
    })
    const stopGaps = liveLog.onGap(schedule)
    return () => {
      stopListening()
      stopGaps()
      clearTimeout(timer)
    }
  }, [everyMs])
}
