/** Reads one log for a consumer, and handles the events that it wants. */
import { EngineError } from '../../kernel/engine-error.ts'
import { backoffMs, sleep } from '../../runtime/index.ts'
import type { Runtime } from '../../runtime/index.ts'
import type { Partition, Store, StoredEvent } from '../../stores/store.ts'
import { markOf } from '../events/event-cursor.ts'
import type { LogPosition } from '../events/event-cursor.ts'
import { hintOf, isWanted } from '../events/event-filter.ts'
import type { EventFilter } from '../events/event-filter.ts'
import { logPartition } from '../events/event-logs.ts'
import { EventReader } from '../events/event-reader.ts'
import type { FailureListener, ReadPage } from '../events/event-reader.ts'
import { resumeAt } from '../events/log-start.ts'
import type { LogStart } from '../events/log-start.ts'
import type { ConsumeContext, ConsumerGap, EventHandler } from './consumer-options.ts'
import { EventWindow } from './event-window.ts'

/** What one of its partitions reports to a consumer. */
export interface PartitionListener {
  readonly onHandled: () => void
  readonly onFailed: (event: StoredEvent, tryCount: number, error: unknown) => void
  /** The event was given up after its last try. */
  readonly onSkipped: (event: StoredEvent, error: unknown) => void
  readonly onGap: (gap: ConsumerGap) => void
  readonly onTrouble: FailureListener
  /** The log cannot be read any more. */
  readonly onEnd: (error: unknown) => void
}

export interface PartitionSettings {
  readonly filter: EventFilter
  readonly handle: EventHandler
  readonly concurrency: number
  readonly attempts: number
  readonly retryMaxMs: number
}

/** The delay after the first failure of an event. It doubles with each further one. */
const RETRY_FIRST_MS = 500

export class PartitionConsumer {
  readonly number: number
  /** Whether all of its handlers have returned. */
  isStopped = false
  readonly #store: Store
  readonly #runtime: Runtime
  readonly #settings: PartitionSettings
  readonly #listener: PartitionListener
  readonly #window: EventWindow
  /** Aborts when no further event or try is begun. */
  readonly #stopping = new AbortController()
  /** Aborts when handlers have to stop. */
  readonly #lost = new AbortController()
  readonly #running: Promise<void>

  constructor(
    { store, runtime }: { readonly store: Store; readonly runtime: Runtime },
    number: number,
    position: LogPosition,
    settings: PartitionSettings,
    listener: PartitionListener,
  ) {
    this.number = number
    this.#store = store
    this.#runtime = runtime
    this.#settings = settings
    this.#listener = listener
    this.#window = new EventWindow(position, settings.concurrency)
    this.#running = this.#run()
  }

  /** All events up to here are handled, or are not wanted. */
  get position(): LogPosition {
    return this.#window.position
  }

  /** Begins no further event. Resolves once the handlers have returned. */
  async stop(): Promise<void> {
    this.#stopping.abort()
    await this.#running
  }

  /** The same, and aborts the signal of the handlers, because another process may continue. */
  async abandon(): Promise<void> {
    this.#lost.abort()
    await this.stop()
  }

  async #run(): Promise<void> {
    try {
      await this.#follow()
    } catch (error) {
      this.#listener.onEnd(error)
    }
    await this.#window.drained()
    this.isStopped = true
  }

  async #follow(): Promise<void> {
    const { signal } = this.#stopping
    const start = await this.#resume(signal)
    if (start === undefined) return
    const { position, isReplaced } = start
    if (isReplaced) this.#startOver(position)
    const { onTrouble } = this.#listener
    const reader = new EventReader(this.#store, this.#runtime, this.#partition, position.sequence, {
      onTrouble,
      hint: hintOf(this.#settings.filter),
    })
    try {
      for (let page = await reader.next(signal); page !== undefined; page = await reader.next(signal)) {
        if (page.replacedFrom === undefined) {
          await this.#handlePage(reader, page)
          continue
        }
        await this.#window.drained()
        this.#startOver({ sequence: page.replacedFrom - 1 })
        reader.moveTo(page.replacedFrom - 1)
      }
    } finally {
      reader.close()
    }
  }

  get #partition(): Partition {
    return logPartition(this.#store.settings, this.number)
  }

  /** Retries while the store is unavailable. */
  async #resume(signal: AbortSignal): Promise<LogStart | undefined> {
    for (let failureCount = 1; !signal.aborted; failureCount++) {
      try {
        return await resumeAt(this.#store, this.#partition, this.position)
      } catch (error) {
        if (!(error instanceof EngineError) || !error.isRetryable) throw error
        this.#listener.onTrouble(error)
        await sleep(this.#runtime, backoffMs(this.#runtime, failureCount), signal)
      }
    }
    return undefined
  }

  #startOver(position: LogPosition): void {
    this.#window.pass(position)
    this.#listener.onGap({ kind: 'log_replaced', partition: this.number })
  }

  async #handlePage(reader: EventReader, page: ReadPage): Promise<void> {
    const missed = page.firstSequence - 1 - reader.position
    if (missed > 0) {
      this.#window.pass({ sequence: page.firstSequence - 1 })
      this.#listener.onGap({ kind: 'trimmed', partition: this.number, missed })
    }
    for (const event of page.events) {
      const position = { sequence: event.sequence, mark: markOf(event) }
      if (!isWanted(event, this.#settings.filter)) {
        this.#window.pass(position)
        continue
      }
      if (!(await this.#window.hasRoom(this.#stopping.signal))) return
      this.#window.add(position, event.executionId, () => this.#handle(event, position))
    }
    reader.advance(page)
  }

  /** Tries until the event is handled or given up. Resolves with false once this process has to stop. */
  async #handle(event: StoredEvent, { sequence, mark }: LogPosition): Promise<boolean> {
    const { handle, attempts } = this.#settings
    const signal = this.#lost.signal
    const eventId = `${this.number}-${sequence}-${(mark ?? 0).toString(36)}`
    for (let tryCount = 1; !this.#stopping.signal.aborted; tryCount++) {
      try {
        const context: ConsumeContext = { eventId, tryCount, signal }
        await handle(event, context)
        // After the loss of the partition another process handles the event as well.
        if (signal.aborted) return false
        this.#listener.onHandled()
        return true
      } catch (error) {
        if (signal.aborted) return false
        if (tryCount >= attempts) {
          this.#listener.onSkipped(event, error)
          return true
        }
        this.#listener.onFailed(event, tryCount, error)
        await sleep(this.#runtime, this.#delayMs(tryCount), this.#stopping.signal)
      }
    }
    return false
  }

  #delayMs(tryCount: number): number {
    const longest = Math.min(this.#settings.retryMaxMs, RETRY_FIRST_MS * 2 ** Math.min(tryCount - 1, 16))
    return Math.ceil(longest * (0.5 + this.#runtime.random() / 2))
  }
}
