/** Reads one partition's event log forward: sleeps until a wake-up or the sweep, never holds anything up inside the store. */
import type { Runtime } from '../runtime/index.ts'
import { EngineError } from '../stores/engine-error.ts'
import type { EventPage, Partition, Store, Wake } from '../stores/store.ts'

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
    this.position = page.events.at(-1)?.sequence ?? Math.max(this.position, page.firstSequence - 1)
  }

  close(): void {
    this.#stopListening()
    this.wake()
  }

  /** Undefined while the store cannot be read; what cannot pass by itself is thrown. */
  async #read(): Promise<EventPage | undefined> {
    try {
      return await this.#store.readEvents(this.partition, this.position, PAGE_EVENTS)
    } catch (error) {
      if (!(error instanceof EngineError) || !error.isRetryable) throw error
      this.#onTrouble(error)
      return undefined
    }
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
