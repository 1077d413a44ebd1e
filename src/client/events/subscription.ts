/** Yields the events of all partitions as one async sequence, from any retained cursor. */
import { boolean, shape, unchecked } from '../../options/shape.ts'
import type { Runtime } from '../../runtime/index.ts'
import { logPartitions } from '../../stores/partitions.ts'
import type { Partition, Store, StoredEvent } from '../../stores/store.ts'
import { encodeCursor, markOf } from './event-cursor.ts'
import type { LogPosition } from './event-cursor.ts'
import { filterChecks, hintOf, isWanted } from './event-filter.ts'
import type { EventFilter, EventFilterOptions } from './event-filter.ts'
import { mayHave } from './event-logs.ts'
import { EventReader } from './event-reader.ts'
import type { FailureListener, ReadPage } from './event-reader.ts'
import { logStarts } from './log-start.ts'
import type { LogStart } from './log-start.ts'
import { checkKey, checkSignal } from '../checks/names.ts'

export interface SubscribeOptions extends EventFilterOptions {
  /** Where an earlier subscription stopped. Without a cursor, only new events are yielded. */
  readonly cursor?: string
  /** Starts with the oldest retained event; only without a cursor. */
  readonly fromStart?: boolean
  /** False ends it after the last event that is written now. */
  readonly follow?: boolean
  readonly executionId?: string
  /** A flow by its id or key: its own events, and those of its members. */
  readonly flowId?: string
  readonly signal?: AbortSignal
  /** Called with retryable failures of the store, such as a locked file. Reading continues. */
  readonly onTrouble?: FailureListener
}

export const subscribeOptions = shape<SubscribeOptions>()("{ types: ['execution_ended'] }", {
  cursor: unchecked<string>(),
  fromStart: boolean,
  follow: boolean,
  ...filterChecks,
  executionId: checkKey,
  flowId: checkKey,
  signal: checkSignal,
  onTrouble: unchecked<FailureListener>(),
})

export type SubscriptionItem =
  | { readonly kind: 'event'; readonly event: StoredEvent; readonly cursor: string }
  /** Events were trimmed before they were read. Read the executions themselves. */
  | { readonly kind: 'trimmed'; readonly missed: number; readonly cursor: string }
  /**
   * The log of this number is not the one that was read before: its server was restored, or lost its last events. The
   * subscription continues with the first event that the log keeps.
   */
  | { readonly kind: 'log_replaced'; readonly partition: number; readonly cursor: string }

/** A page that waits for the consumer. Its reader pauses until the page is taken. */
interface ReadyPage {
  readonly reader: EventReader
  readonly number: number
  readonly page: ReadPage
  readonly taken: () => void
}

/** The last event that a subscription has to examine in a log. */
export interface LastEvent {
  readonly partition: number
  readonly sequence: number
}

/** Starts at the end of the log at the time of this call, not of the first `next()`. Ends once it has passed `last`, if given. */
export function subscribe(
  store: Store,
  runtime: Runtime,
  options: SubscribeOptions,
  scope: EventFilter,
  last?: Promise<readonly LastEvent[] | undefined>,
): AsyncGenerator<SubscriptionItem, void, undefined> {
  const { executionId, flowId } = options
  const filter = { ...scope, executionId, flowId }
  const positions = logStarts(store, options, (partition) => mayHave(partition, filter))
  // The first next() throws the failure; without a consumer it must not be unhandled.
  positions.catch(() => undefined)
  const until = last ?? (options.follow === false ? lastEvents(store) : undefined)
  until?.catch(() => undefined)
  return follow(store, runtime, options, filter, positions, until)
}

async function lastEvents(store: Store): Promise<LastEvent[]> {
  const ends = await logStarts(store, {})
  return ends.map(({ position }, partition) => ({ partition, sequence: position.sequence }))
}

async function* follow(
  store: Store,
  runtime: Runtime,
  options: SubscribeOptions,
  filter: EventFilter,
  from: Promise<LogStart[]>,
  until: Promise<readonly LastEvent[] | undefined> | undefined,
): AsyncGenerator<SubscriptionItem, void, undefined> {
  const starts = await from
  const positions = starts.map(({ position }) => position)
  const partitions = logPartitions(store.settings)
  const numbers = [...partitions.keys()].filter((number) => mayHave(partitions[number] as Partition, filter))
  let last = (await until)?.filter(({ partition }) => numbers.includes(partition))
  const isOver = () =>
    last?.every(({ partition, sequence }) => (positions[partition]?.sequence ?? 0) >= sequence) === true
  const abort = new AbortController()
  const stop = () => abort.abort()
  options.signal?.addEventListener('abort', stop, { once: true })
  if (options.signal?.aborted === true) stop()
  const settings = { onTrouble: options.onTrouble, hint: hintOf(filter) }
  const readers = new Map(
    numbers.map((number) => {
      const position = positions[number]?.sequence ?? 0
      return [number, new EventReader(store, runtime, partitions[number] as Partition, position, settings)]
    }),
  )
  const merger = new PageMerger(readers, abort.signal)
  try {
    for (const [number, { position, isReplaced }] of starts.entries()) {
      if (isReplaced) yield* replacedItem(number, positions, position)
    }
    while (!isOver()) {
      const ready = await merger.next()
      if (ready === undefined) return
      const { number, page } = ready
      // The new log ends elsewhere, and may never reach the number at which the former one ended.
      if (page.replacedFrom !== undefined) {
        last = last?.map((one) => (one.partition === number ? { ...one, sequence: page.lastSequence } : one))
      }
      yield* itemsOf(ready, positions, filter)
      ready.taken()
    }
  } finally {
    stop()
    options.signal?.removeEventListener('abort', stop)
    for (const reader of readers.values()) reader.close()
    await merger.end()
  }
}

/** Merges the pages of several readers in order of arrival. */
class PageMerger {
  readonly #signal: AbortSignal
  readonly #following: Promise<void>[]
  readonly #ready: ReadyPage[] = []
  #failure: { readonly error: unknown } | undefined
  #current: ReadyPage | undefined
  #wake: () => void = () => undefined

  constructor(readers: ReadonlyMap<number, EventReader>, signal: AbortSignal) {
    this.#signal = signal
    signal.addEventListener('abort', () => this.#wake(), { once: true })
    this.#following = [...readers].map(([number, reader]) => this.#follow(reader, number))
  }

  /** Returns undefined once the signal has aborted. */
  async next(): Promise<ReadyPage | undefined> {
    for (;;) {
      if (this.#signal.aborted) return undefined
      if (this.#failure !== undefined) throw this.#failure.error
      this.#current = this.#ready.shift()
      if (this.#current !== undefined) return this.#current
      await new Promise<void>((resolve) => (this.#wake = resolve))
    }
  }

  /** Waits for the readers to stop, after the signal has aborted. */
  async end(): Promise<void> {
    this.#current?.taken()
    for (const page of this.#ready) page.taken()
    await Promise.all(this.#following)
  }

  async #follow(reader: EventReader, number: number): Promise<void> {
    try {
      for (let page = await reader.next(this.#signal); page !== undefined; page = await reader.next(this.#signal)) {
        await this.#offer(reader, number, page)
      }
    } catch (error) {
      this.#failure ??= { error }
      this.#wake()
    }
  }

  /** Drops pages that arrive after the consumer has stopped. */
  #offer(reader: EventReader, number: number, page: ReadPage): Promise<void> {
    if (this.#signal.aborted) return Promise.resolve()
    return new Promise((taken) => {
      this.#ready.push({ reader, number, page, taken })
      this.#wake()
    })
  }
}

/** Reports that the log of a partition is another one, so that `position` is before its first event. */
function* replacedItem(number: number, positions: LogPosition[], position: LogPosition): Generator<SubscriptionItem> {
  positions[number] = position
  yield { kind: 'log_replaced', partition: number, cursor: encodeCursor(positions) }
}

function* itemsOf(ready: ReadyPage, positions: LogPosition[], filter: EventFilter): Generator<SubscriptionItem> {
  const { reader, number, page } = ready
  if (page.replacedFrom !== undefined) {
    const sequence = page.replacedFrom - 1
    yield* replacedItem(number, positions, { sequence })
    reader.moveTo(sequence)
    return
  }
  const missed = page.firstSequence - 1 - reader.position
  if (missed > 0) {
    positions[number] = { sequence: page.firstSequence - 1 }
    yield { kind: 'trimmed', missed, cursor: encodeCursor(positions) }
  }
  for (const event of page.events) {
    if (!isWanted(event, filter)) continue
    positions[number] = { sequence: event.sequence, mark: markOf(event) }
    yield { kind: 'event', event, cursor: encodeCursor(positions) }
  }
  const last = page.events.at(-1)
  if (last !== undefined) positions[number] = { sequence: last.sequence, mark: markOf(last) }
  reader.advance(page)
}
