/**
 * Reads the event log of one partition forward. Sleeps until a wake-up or the next sweep.
 *
 * After an outage a store may lack its last events and reuse their numbers. So each read includes the last known event: if
 * it is missing or differs, the reader continues with the log as it is now and reports a gap, as it does for trimmed events.
 */
import type { Runtime } from '../../runtime/index.ts'
import { EngineError } from '../../kernel/engine-error.ts'
import { EVENT_SWEEP_MS } from '../../stores/store.ts'
import type { EventHint, EventPage, LogGrowth, Partition, Store, StoredEvent, Wake } from '../../stores/store.ts'

const PAGE_EVENTS = 256
/** Announced writes that a reader remembers until the writes before them are announced. */
const ANNOUNCED_MAX = 1_000

/** A page of events, with what the reader has found out about the log. */
export interface ReadPage extends EventPage {
  /** If the log was replaced by another one: the first event that it keeps. */
  readonly replacedFrom?: number | undefined
}

/** Receives retryable failures of the store. Reading continues. */
export type FailureListener = (error: EngineError) => void

/** Whether the log has to be read after a wake-up. */
export type WakeFilter = (wake: Wake) => boolean

export interface ReaderSettings {
  readonly onTrouble?: FailureListener | undefined
  readonly isToBeRead?: WakeFilter
  /** Which events are needed. Others may be left out of pages. */
  readonly hint?: EventHint | undefined
}

/** An event that was read, or of which only number and time were announced. */
type KnownEvent = Pick<StoredEvent, 'sequence' | 'at'> & Partial<StoredEvent>

export class EventReader {
  readonly partition: Partition
  readonly #store: Store
  readonly #runtime: Runtime
  readonly #onFailure: FailureListener
  readonly #hint: EventHint | undefined
  readonly #stopListening: () => void
  /** The event at the position, once it was read or announced. */
  #last: KnownEvent | undefined
  /** The last event that was read. Growth announced later may belong to another log. */
  #seen: KnownEvent | undefined
  /** Announced writes that need not be read, by their first event, until the position reaches them. */
  readonly #announced = new Map<number, LogGrowth>()
  /** True once wake-ups carry log growth, so that the reader need not poll. */
  #isAnnounced = false
  /** Whether a page is being read or processed. */
  #hasPage = false
  /** Whether the last read has failed. */
  #hasFailed = false
  #isWoken = true
  #wake: (() => void) | undefined
  position: number

  constructor(
    store: Store,
    runtime: Runtime,
    partition: Partition,
    position: number,
    { onTrouble = () => undefined, isToBeRead = () => true, hint }: ReaderSettings = {},
  ) {
    this.#hint = hint
    this.#store = store
    this.#runtime = runtime
    this.#onFailure = onTrouble
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

  /** Returns the events after the position, as soon as there are any; undefined once the signal has aborted. */
  async next(signal: AbortSignal): Promise<ReadPage | undefined> {
    while (!signal.aborted) {
      if (this.#isWoken || !this.#isAnnounced) {
        const page = await this.#nextPage()
        if (page !== undefined) return page
      }
      this.#passAnnounced()
      await this.#sleep(signal)
    }
    return undefined
  }

  /** Skips announced events that need not be read. Returns false if they have to be read after all. */
  skip(growth: LogGrowth): boolean {
    if (this.#announced.size === ANNOUNCED_MAX) {
      this.#announced.clear()
      return false
    }
    this.#isAnnounced = true
    this.#announced.set(growth.first, growth)
    if (!this.#hasPage) this.#passAnnounced()
    return true
  }

  /** Advances the position past a processed page. */
  advance(page: EventPage): void {
    const last = page.events.at(-1)
    this.#last = last
    this.#seen = last
    this.position = last?.sequence ?? Math.max(this.position, page.firstSequence - 1)
    if (page.lastSequence > this.position) this.#isWoken = true
    for (const growth of this.#announced.values())
      if (growth.last <= this.position) this.#announced.delete(growth.first)
    this.#hasPage = false
  }

  /** Continues at another position, instead of processing the page. */
  moveTo(position: number): void {
    this.#last = undefined
    this.#seen = undefined
    this.#announced.clear()
    this.position = position
    this.#isWoken = true
    this.#hasPage = false
  }

  close(): void {
    this.#stopListening()
    this.wake()
  }

  /** Returns the events after the position; undefined if there are none. */
  async #nextPage(): Promise<ReadPage | undefined> {
    this.#isWoken = false
    this.#hasPage = true
    const page = await this.#read()
    if (page !== undefined && (page.events.length > 0 || page.firstSequence > this.position + 1)) return page
    this.#hasPage = false
    return undefined
  }

  /** Advances past announced events, up to the first gap. */
  #passAnnounced(): void {
    for (;;) {
      const next = this.#announced.get(this.position + 1)
      if (next === undefined) return
      this.#announced.delete(next.first)
      this.position = next.last
      this.#last = { sequence: next.last, at: next.at }
      this.#seen ??= this.#last
    }
  }

  /** Returns undefined after a retryable failure, and throws others. */
  async #read(): Promise<ReadPage | undefined> {
    this.#hasFailed = false
    try {
      if (await this.#isAnotherLog()) return this.#withGap(await this.#readFrom(this.position, PAGE_EVENTS, this.#hint))
      return this.#behindPosition(await this.#readFrom(this.position, PAGE_EVENTS, this.#hint))
    } catch (error) {
      if (!(error instanceof EngineError) || !error.isRetryable) throw error
      this.#hasFailed = true
      this.#onFailure(error)
      return undefined
    }
  }

  #readFrom(sequence: number, limit: number, hint?: EventHint): Promise<EventPage> {
    return this.#store.readEvents(this.partition, Math.max(0, sequence - 1), limit, hint)
  }

  /**
   * Whether the log differs at the last event that was read. A log that was lost and has grown again may have been announced
   * from the position on; the reader then returns to the last event that it read.
   */
  async #isAnotherLog(): Promise<boolean> {
    const seen = this.#seen
    if (seen === undefined || seen.sequence >= this.position) return false
    const [found] = (await this.#readFrom(seen.sequence, 1)).events
    if (found?.sequence === seen.sequence && isSame(found, seen)) return false
    this.position = seen.sequence
    return true
  }

  /** Returns the page without the event at the position, if that event is unchanged. */
  #behindPosition(page: EventPage): ReadPage {
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

  /** The log ends before the position or differs there, so everything from there on is new. */
  #withGap(page: EventPage): ReadPage {
    const firstSequence = Math.min(this.position, page.lastSequence + 1)
    this.#last = undefined
    this.#seen = undefined
    this.#announced.clear()
    this.position = firstSequence - 2
    const events = page.events.filter(({ sequence }) => sequence >= firstSequence)
    return { ...page, events, firstSequence, replacedFrom: page.firstSequence }
  }

  /** Wake-ups are hints and may be lost, so the log is also read without one. */
  #sweepMs(): number {
    return this.#hasFailed ? EVENT_SWEEP_MS : (this.#store.eventSweepMs?.(this.partition) ?? EVENT_SWEEP_MS)
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
      const timer = this.#runtime.after(this.#sweepMs(), () => this.wake())
      this.#wake = finish
      signal.addEventListener('abort', finish, { once: true })
    })
  }
}

/** Compares announced events by time only: a log that was lost and has grown again has other times. */
function isSame(found: StoredEvent, known: KnownEvent): boolean {
  if (known.type === undefined) return found.at === known.at
  return found.at === known.at && found.type === known.type && found.executionId === known.executionId
}
