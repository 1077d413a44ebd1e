/** Yields the events of all partitions as one async sequence, from any retained cursor. */
import { boolean, shape, unchecked } from '../../options/shape.ts'
import { eventTypes } from '../../kernel/index.ts'
import type { EventType } from '../../kernel/index.ts'
import type { Runtime } from '../../runtime/index.ts'
import { EngineError } from '../../kernel/engine-error.ts'
import { executionPartition } from '../../stores/store.ts'
import type { EventPage, Store, StoredEvent } from '../../stores/store.ts'
import { decodeCursor, encodeCursor } from './event-cursor.ts'
import { EventReader } from './event-reader.ts'
import type { FailureListener } from './event-reader.ts'
import { checkKey, checkList, checkNamespace, checkSignal, checkTagQuery, invalidInput, show } from '../checks/names.ts'

export interface SubscribeOptions {
  /** Where an earlier subscription stopped. Without a cursor, only new events are yielded. */
  readonly cursor?: string
  /** Starts with the oldest retained event; only without a cursor. */
  readonly fromStart?: boolean
  readonly namespace?: string
  readonly tag?: { readonly name: string; readonly value: string }
  readonly types?: readonly EventType[]
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
  namespace: checkNamespace,
  tag: checkTagQuery,
  types: checkTypes,
  executionId: checkKey,
  flowId: checkKey,
  signal: checkSignal,
  onTrouble: unchecked<FailureListener>(),
})

export type SubscriptionItem =
  | { readonly kind: 'event'; readonly event: StoredEvent; readonly cursor: string }
  /**
   * Events were trimmed before they were read, or lost in an outage of the store; then `missed` is a lower bound. Read the
   * executions themselves.
   */
  | { readonly kind: 'trimmed'; readonly missed: number; readonly cursor: string }

/** A page that waits for the consumer. Its reader pauses until the page is taken. */
interface ReadyPage {
  readonly reader: EventReader
  readonly number: number
  readonly page: EventPage
  readonly taken: () => void
}

/** The last event that a subscription has to examine, by its partition and its place in the log. */
export interface LastEvent {
  readonly partition: number
  readonly sequence: number
}

/** Starts at the end of the log at the time of this call, not of the first `next()`. Ends after `last`, if there is one. */
export function subscribe(
  store: Store,
  runtime: Runtime,
  options: SubscribeOptions,
  last?: Promise<LastEvent | undefined>,
): AsyncGenerator<SubscriptionItem, void, undefined> {
  const positions = firstPositions(store, options)
  // The first next() throws the failure; without a consumer it must not be unhandled.
  positions.catch(() => undefined)
  last?.catch(() => undefined)
  return follow(store, runtime, options, positions, last)
}

function checkTypes(given: unknown, field: string): readonly EventType[] {
  checkList(given, field)
  const types = given as readonly EventType[]
  const unknown = types.find((type) => !eventTypes.includes(type))
  if (unknown === undefined) return types
  throw invalidInput(field, `types has ${show(unknown)}, but an event's type is one of ${eventTypes.join(', ')}.`)
}

async function firstPositions(store: Store, options: SubscribeOptions): Promise<number[]> {
  const { cursor, fromStart = false } = options
  const bounds = await logBounds(store)
  if (cursor === undefined) return bounds.map(({ first, last }) => (fromStart ? first - 1 : last))
  const positions = decodeCursor(cursor, bounds.length)
  // A cursor beyond the end is from another store: waiting for the log to reach it would skip events.
  if (positions.some((position, i) => position > (bounds[i]?.last ?? 0))) {
    throw new EngineError('invalid_cursor', { field: 'cursor', message: 'It lies beyond the last event.' })
  }
  return positions
}

async function* follow(
  store: Store,
  runtime: Runtime,
  options: SubscribeOptions,
  from: Promise<number[]>,
  until: Promise<LastEvent | undefined> | undefined,
): AsyncGenerator<SubscriptionItem, void, undefined> {
  const positions = await from
  const last = await until
  const isOver = () => last !== undefined && (positions[last.partition] ?? 0) >= last.sequence
  const abort = new AbortController()
  const stop = () => abort.abort()
  options.signal?.addEventListener('abort', stop, { once: true })
  if (options.signal?.aborted === true) stop()
  const readers = positions.map(
    (position, i) => new EventReader(store, runtime, executionPartition(i), position, options.onTrouble),
  )
  const merger = new PageMerger(readers, abort.signal)
  try {
    while (!isOver()) {
      const ready = await merger.next()
      if (ready === undefined) return
      yield* itemsOf(ready, positions, options)
      ready.taken()
    }
  } finally {
    stop()
    options.signal?.removeEventListener('abort', stop)
    for (const reader of readers) reader.close()
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

  constructor(readers: readonly EventReader[], signal: AbortSignal) {
    this.#signal = signal
    signal.addEventListener('abort', () => this.#wake(), { once: true })
    this.#following = readers.map((reader, number) => this.#follow(reader, number))
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
  #offer(reader: EventReader, number: number, page: EventPage): Promise<void> {
    if (this.#signal.aborted) return Promise.resolve()
    return new Promise((taken) => {
      this.#ready.push({ reader, number, page, taken })
      this.#wake()
    })
  }
}

/** Returns the cursor after the last event that is written now. */
export async function endOfLog(store: Store): Promise<string> {
  return encodeCursor((await logBounds(store)).map(({ last }) => last))
}

/** Returns where the log of each partition starts and ends. */
async function logBounds(store: Store): Promise<{ readonly first: number; readonly last: number }[]> {
  const numbers = Array.from({ length: store.settings.executionPartitions }, (_, i) => i)
  return await Promise.all(
    numbers.map(async (number) => {
      const { firstSequence, lastSequence } = await store.readEvents(executionPartition(number), 0, 1)
      return { first: firstSequence, last: lastSequence }
    }),
  )
}

function* itemsOf(ready: ReadyPage, positions: number[], options: SubscribeOptions): Generator<SubscriptionItem> {
  const { reader, number, page } = ready
  const missed = page.firstSequence - 1 - reader.position
  if (missed > 0) {
    positions[number] = page.firstSequence - 1
    yield { kind: 'trimmed', missed, cursor: encodeCursor(positions) }
  }
  for (const event of page.events) {
    positions[number] = event.sequence
    if (isWanted(event, options)) yield { kind: 'event', event, cursor: encodeCursor(positions) }
  }
  reader.advance(page)
}

/** A value that is missing never matches. */
function isWanted(event: StoredEvent, options: SubscribeOptions): boolean {
  const { namespace, tag, types, executionId, flowId } = options
  if (namespace !== undefined && event.namespace !== namespace) return false
  if (executionId !== undefined && event.executionId !== executionId) return false
  if (flowId !== undefined && event.flowId !== flowId) return false
  if (types !== undefined && !types.includes(event.type)) return false
  if (tag === undefined) return true
  return event.tags.some((part, i) => i % 2 === 0 && part === tag.name && event.tags[i + 1] === tag.value)
}
