/**
 * Reads one partition's event log forward: sleeps until a wake-up or the sweep, never holds anything up inside the store.
 *
 * A store may come back from an outage without its last moments, and numbers its next events as it numbered those that it
 * lost. So a reader looks at the last event it knows each time: if another one stands in its place, or none, the reader
 * goes on with the log as it is now and tells of a gap, as it does when events were trimmed.
 */
import type { Runtime } from '../runtime/index.ts'
import { EngineError } from '../stores/engine-error.ts'
import type { EventPage, Partition, Store, StoredEvent, Wake } from '../stores/store.ts'

/** How often a reader looks without having been woken. Wake-ups are hints and may be lost. */
const EVENT_SWEEP_MS = 1_000
const PAGE_EVENTS = 256

/** Hears of a failure of the store that may pass. Reading goes on. */
export type TroubleListener = (error: EngineError) => void

export class EventReader {
  readonly partition: Partition
  readonly #store: Store
  readonly #runtime: Runtime
  readonly #onTrouble: TroubleListener
  readonly #stopListening: () => void
  /** The event at the position, once it has been seen. */
  #last: StoredEvent | undefined
  #isWoken = true
  #wake: (() => void) | undefined
  position: number

  constructor(
    store: Store,
    runtime: Runtime,
    partition: Partition,
    position: number,
    onTrouble: TroubleListener = () => undefined,
  ) {
    this.#store = store
    this.#runtime = runtime
    this.#onTrouble = onTrouble
    this.partition = partition
    this.position = position
    const listener = (wake: Wake) => {
      if (wake.partition === partition && wake.hasEvents) this.wake()
    }
    this.#stopListening = store.onWake(listener, { eventsOf: partition })
  }

  wake(): void {
    this.#isWoken = true
    this.#wake?.()
  }

  /** The events behind the position, as soon as there are any; undefined once the signal has aborted. */
  async next(signal: AbortSignal): Promise<EventPage | undefined> {
    while (!signal.aborted) {
      this.#isWoken = false
      const page = await this.#read()
      if (page !== undefined && (page.events.length > 0 || page.firstSequence > this.position + 1)) return page
      await this.#sleep(signal)
    }
    return undefined
  }

  /** Takes note that a page has been dealt with. */
  advance(page: EventPage): void {
    this.#last = page.events.at(-1)
    this.position = this.#last?.sequence ?? Math.max(this.position, page.firstSequence - 1)
  }

  close(): void {
    this.#stopListening()
    this.wake()
  }

  /** Undefined while the store cannot be read; what cannot pass by itself is thrown. */
  async #read(): Promise<EventPage | undefined> {
    try {
      const after = Math.max(0, this.position - 1)
      return this.#behindPosition(await this.#store.readEvents(this.partition, after, PAGE_EVENTS))
    } catch (error) {
      if (!(error instanceof EngineError) || !error.isRetryable) throw error
      this.#onTrouble(error)
      return undefined
    }
  }

  /** The page without the event at the position, if that is still the one that was seen there. */
  #behindPosition(page: EventPage): EventPage {
    const { position } = this
    const [first] = page.events
    const hasFirst = first !== undefined && first.sequence === position
    const isOther = hasFirst && this.#last !== undefined && !isSame(first, this.#last)
    if (page.lastSequence < position || isOther) return this.#withGap(page)
    if (!hasFirst) return page
    this.#last = first
    return { ...page, events: page.events.slice(1) }
  }

  /** The log ends before the position, or has another event there: what it has from there on is new. */
  #withGap(page: EventPage): EventPage {
    const firstSequence = Math.min(this.position, page.lastSequence + 1)
    this.#last = undefined
    this.position = firstSequence - 2
    return { ...page, events: page.events.filter(({ sequence }) => sequence >= firstSequence), firstSequence }
  }

  #sleep(signal: AbortSignal): Promise<void> {
    if (this.#isWoken || signal.aborted) return Promise.resolve()
    return new Promise((resolve) => {
      const finish = () => {
        timer.cancel()
        signal.removeEventListener('abort', finish)
        this.#wake = undefined
        resolve()
      }
      const timer = this.#runtime.after(EVENT_SWEEP_MS, finish)
      this.#wake = finish
      signal.addEventListener('abort', finish, { once: true })
    })
  }
}

function isSame(a: StoredEvent, b: StoredEvent): boolean {
  return a.at === b.at && a.type === b.type && a.executionId === b.executionId
}
