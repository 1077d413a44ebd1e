/** Events of all partitions as one async sequence, from any cursor that is still kept. */
import type { EventType } from '../kernel/index.ts'
import type { Runtime } from '../runtime/index.ts'
import { EngineError } from '../stores/engine-error.ts'
import { executionPartition } from '../stores/store.ts'
import type { EventPage, Store, StoredEvent } from '../stores/store.ts'
import { decodeCursor, encodeCursor } from './event-cursor.ts'
import { EventReader } from './event-reader.ts'
import type { TroubleListener } from './event-reader.ts'

export interface SubscribeOptions {
  /** Where an earlier subscription stopped. Without one, only what happens from now on is seen. */
  readonly cursor?: string
  /** Begin with the oldest event that is kept; for use without a cursor. */
  readonly fromStart?: boolean
  readonly namespace?: string
  readonly tag?: { readonly name: string; readonly value: string }
  readonly types?: readonly EventType[]
  readonly executionId?: string
  readonly signal?: AbortSignal
  /** Hears of failures of the store that may pass, such as a file that another process keeps busy; reading goes on. */
  readonly onTrouble?: TroubleListener
}

export type SubscriptionItem =
  | { readonly kind: 'event'; readonly event: StoredEvent; readonly cursor: string }
  /** Events were trimmed before they could be read; look at the executions themselves. */
  | { readonly kind: 'trimmed'; readonly missed: number; readonly cursor: string }

/** Pages that wait for a slow consumer: each reader holds one and reads no further. */
interface ReadyPage {
  readonly reader: EventReader
  readonly number: number
  readonly page: EventPage
}

/** Begins where the log ends at the time of this call, not when the first event is asked for. */
export function subscribe(
  store: Store,
  runtime: Runtime,
  options: SubscribeOptions,
): AsyncGenerator<SubscriptionItem, void, undefined> {
  const positions = firstPositions(store, options)
  // Whoever asks for the first event meets the failure; nobody else needs to.
  positions.catch(() => undefined)
  return follow(store, runtime, options, positions)
}

async function firstPositions(store: Store, options: SubscribeOptions): Promise<number[]> {
  const { cursor, fromStart = false } = options
  const bounds = await logBounds(store)
  if (cursor === undefined) return bounds.map(({ first, last }) => (fromStart ? first - 1 : last))
  const positions = decodeCursor(cursor, bounds.length)
  // A cursor from beyond the end is of another store: waiting for its log to grow so far would skip what comes before.
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
): AsyncGenerator<SubscriptionItem, void, undefined> {
  const positions = await from
  const abort = new AbortController()
  const stop = () => abort.abort()
  options.signal?.addEventListener('abort', stop, { once: true })
  if (options.signal?.aborted === true) stop()
  const readers = positions.map(
    (position, i) => new EventReader(store, runtime, executionPartition(i), position, options.onTrouble),
  )
  const pending = new Map(readers.map((reader, number) => [number, nextPage(reader, number, abort.signal)]))
  try {
    while (!abort.signal.aborted) {
      const ready = await Promise.race(pending.values())
      if (ready === undefined) return
      yield* itemsOf(ready, positions, options)
      pending.set(ready.number, nextPage(ready.reader, ready.number, abort.signal))
    }
  } finally {
    stop()
    options.signal?.removeEventListener('abort', stop)
    for (const reader of readers) reader.close()
    await Promise.allSettled(pending.values())
  }
}

/** Where the log of each partition begins and ends now. */
async function logBounds(store: Store): Promise<{ readonly first: number; readonly last: number }[]> {
  const numbers = Array.from({ length: store.settings.executionPartitions }, (_, i) => i)
  return await Promise.all(
    numbers.map(async (number) => {
      const { firstSequence, lastSequence } = await store.readEvents(executionPartition(number), 0, 1)
      return { first: firstSequence, last: lastSequence }
    }),
  )
}

async function nextPage(reader: EventReader, number: number, signal: AbortSignal): Promise<ReadyPage | undefined> {
  const page = await reader.next(signal)
  return page === undefined ? undefined : { reader, number, page }
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
  const { namespace, tag, types, executionId } = options
  if (namespace !== undefined && event.namespace !== namespace) return false
  if (executionId !== undefined && event.executionId !== executionId) return false
  if (types !== undefined && !types.includes(event.type)) return false
  if (tag === undefined) return true
  return event.tags.some((part, i) => i % 2 === 0 && part === tag.name && event.tags[i + 1] === tag.value)
}
