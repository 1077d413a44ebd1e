/** Reads one partition's event log forward: sleeps until a wake-up or the sweep, never holds anything up inside the store. */
import type { Runtime } from '../runtime/index.ts'
import type { EventPage, Partition, Store } from '../stores/store.ts'

/** How often a reader looks without having been woken. Wake-ups are hints and may be lost. */
const EVENT_SWEEP_MS = 1_000
const PAGE_EVENTS = 256

export class EventReader {
  readonly partition: Partition
  readonly #store: Store
  readonly #runtime: Runtime
  readonly #stopListening: () => void
  #isWoken = true
  #wake: (() => void) | undefined
  position: number

  constructor(store: Store, runtime: Runtime, partition: Partition, position: number) {
    this.#store = store
    this.#runtime = runtime
    this.partition = partition
    this.position = position
    this.#stopListening = store.onWake((wake) => {
      if (wake.partition === partition && wake.hasEvents) this.wake()
    })
  }

  wake(): void {
    this.#isWoken = true
    this.#wake?.()
  }

  /** The events behind the position, as soon as there are any; undefined once the signal has aborted. */
  async next(signal: AbortSignal): Promise<EventPage | undefined> {
    while (!signal.aborted) {
      this.#isWoken = false
      const page = await this.#store.readEvents(this.partition, this.position, PAGE_EVENTS)
      const isTrimmed = page.firstSequence > this.position + 1
      if (page.events.length > 0 || isTrimmed) return page
      await this.#sleep(signal)
    }
    return undefined
  }

  /** Takes note that a page has been dealt with. */
  advance(page: EventPage): void {
    this.position = page.events.at(-1)?.sequence ?? Math.max(this.position, page.firstSequence - 1)
  }

  close(): void {
    this.#stopListening()
    this.wake()
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
      const timer = this.#runtime.after(EVENT_SWEEP_MS, finish, { background: true })
      this.#wake = finish
      signal.addEventListener('abort', finish, { once: true })
    })
  }
}
