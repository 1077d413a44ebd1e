/**
 * Reads one partition's event log forward: sleeps until a wake-up or the sweep, never holds anything up inside the store.
 *
 * A store may come back from an outage without its last moments, and numbers its next events as it numbered those that it
 * lost. So a reader looks at the last event it knows each time: if another one stands in its place, or none, the reader
 * goes on with the log as it is now and tells of a gap, as it does when events were trimmed.
 */
import type { Runtime } from '../../runtime/index.ts'
import { EngineError } from '../../kernel/engine-error.ts'
import type { EventPage, LogGrowth, Partition, Store, StoredEvent, Wake } from '../../stores/store.ts'

/** How often a reader looks without having been woken. Wake-ups are hints and may be lost. */
export const EVENT_SWEEP_MS = 1_000
const PAGE_EVENTS = 256
/** Writes that a reader remembers while it waits to hear of those before them. */
const TOLD_MAX = 1_000

/** Hears of a failure of the store that may pass. Reading goes on. */
export type TroubleListener = (error: EngineError) => void

/** Says of a wake-up whether the log has to be read for it. */
export type WakeFilter = (wake: Wake) => boolean

/** What is known of an event that was read or told of. */
type KnownEvent = Pick<StoredEvent, 'sequence' | 'at'> & Partial<StoredEvent>

export class EventReader {
  readonly partition: Partition
  readonly #store: Store
  readonly #runtime: Runtime
  readonly #onTrouble: TroubleListener
  readonly #stopListening: () => void
  /** The event at the position, once it has been seen or told of. */
  #last: KnownEvent | undefined
  /** The last event that was read. What was told of since may be of another log. */
  #seen: KnownEvent | undefined
  /** Writes that need not be read, by the numbers of their first events, until the position has come to them. */
  readonly #told = new Map<number, LogGrowth>()
  /** Whether it is told of writes, and so need not read to see whether there are any. */
  #isTold = false
  /** Whether a page is being read, or has been read and not been dealt with. */
  #hasPage = false
  #isWoken = true
  #wake: (() => void) | undefined
  position: number

  constructor(
    store: Store,
    runtime: Runtime,
    partition: Partition,
    position: number,
    onTrouble: TroubleListener = () => undefined,
    isToBeRead: WakeFilter = () => true,
  ) {
    this.#store = store
    this.#runtime = runtime
    this.#onTrouble = onTrouble
    this.partition = partition
    this.position = position
    const listener = (wake: Wake) => {
      if (wake.partition === partition && wake.hasEvents && isToBeRead(wake)) this.wake()
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
      if (this.#isWoken || !this.#isTold) {
        const page = await this.#nextPage()
        if (page !== undefined) return page
      }
      this.#passTold()
      await this.#sleep(signal)
    }
    return undefined
  }

  /** Takes note of events of which all that matters has been told. False if they have to be read all the same. */
  skip(growth: LogGrowth): boolean {
    if (this.#told.size === TOLD_MAX) {
      this.#told.clear()
      return false
    }
    this.#isTold = true
    this.#told.set(growth.first, growth)
    if (!this.#hasPage) this.#passTold()
    return true
  }

  /** Takes note that a page has been dealt with. */
  advance(page: EventPage): void {
    const last = page.events.at(-1)
    this.#last = last
    this.#seen = last
    this.position = last?.sequence ?? Math.max(this.position, page.firstSequence - 1)
    if (page.lastSequence > this.position) this.#isWoken = true
    for (const growth of this.#told.values()) if (growth.last <= this.position) this.#told.delete(growth.first)
    this.#hasPage = false
  }

  close(): void {
    this.#stopListening()
    this.wake()
  }

  /** What stands behind the position now; undefined if nothing does. */
  async #nextPage(): Promise<EventPage | undefined> {
    this.#isWoken = false
    this.#hasPage = true
    const page = await this.#read()
    if (page !== undefined && (page.events.length > 0 || page.firstSequence > this.position + 1)) return page
    this.#hasPage = false
    return undefined
  }

  /** Moves behind what was told, as far as nothing is missing before it. */
  #passTold(): void {
    for (;;) {
      const next = this.#told.get(this.position + 1)
      if (next === undefined) return
      this.#told.delete(next.first)
      this.position = next.last
      this.#last = { sequence: next.last, at: next.at }
      this.#seen ??= this.#last
    }
  }

  /** Undefined while the store cannot be read; what cannot pass by itself is thrown. */
  async #read(): Promise<EventPage | undefined> {
    try {
      if (await this.#isAnotherLog()) return this.#withGap(await this.#readFrom(this.position, PAGE_EVENTS))
      return this.#behindPosition(await this.#readFrom(this.position, PAGE_EVENTS))
    } catch (error) {
      if (!(error instanceof EngineError) || !error.isRetryable) throw error
      this.#onTrouble(error)
      return undefined
    }
  }

  #readFrom(sequence: number, limit: number): Promise<EventPage> {
    return this.#store.readEvents(this.partition, Math.max(0, sequence - 1), limit)
  }

  /**
   * Whether something else stands where an event was read last. A log that was lost and has grown anew may have been told of
   * from just behind the position on; then the reader goes back to where it knew what it had.
   */
  async #isAnotherLog(): Promise<boolean> {
    const seen = this.#seen
    if (seen === undefined || seen.sequence >= this.position) return false
    const [found] = (await this.#readFrom(seen.sequence, 1)).events
    if (found?.sequence === seen.sequence && isSame(found, seen)) return false
    this.position = seen.sequence
    return true
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
    this.#seen = first
    return { ...page, events: page.events.slice(1) }
  }

  /** The log ends before the position, or has another event there: what it has from there on is new. */
  #withGap(page: EventPage): EventPage {
    const firstSequence = Math.min(this.position, page.lastSequence + 1)
    this.#last = undefined
    this.#seen = undefined
    this.#told.clear()
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
      const timer = this.#runtime.after(EVENT_SWEEP_MS, () => this.wake())
      this.#wake = finish
      signal.addEventListener('abort', finish, { once: true })
    })
  }
}

/** Of one that was only told of, no more is known than when it was: a log that was lost and grew anew has other times. */
function isSame(found: StoredEvent, known: KnownEvent): boolean {
  if (known.type === undefined) return found.at === known.at
  return found.at === known.at && found.type === known.type && found.executionId === known.executionId
}
