/** The options of a durable consumer of events. */
import { boolean, shape, unchecked, wholeNumber } from '../../options/shape.ts'
import type { StoredEvent } from '../../stores/store.ts'
import { checkTaskName } from '../checks/names.ts'
import { parseDuration } from '../define/duration.ts'
import type { Duration } from '../define/duration.ts'
import { filterChecks } from '../events/event-filter.ts'
import type { EventFilterOptions } from '../events/event-filter.ts'

export type ConsumerFilter = EventFilterOptions

/** What a handler of events gets besides the event. */
export interface ConsumeContext {
  /** Identifies the event in this store. The same each time that the event is handled, so that a repetition can be recognised. */
  readonly eventId: string
  /** 1 on the first try in this process. */
  readonly tryCount: number
  /** Aborts when another process may handle the event, or when the consumer was closed and its time to drain is over. */
  readonly signal: AbortSignal
}

/** The event counts as handled once the function has returned. A failure is retried. */
export type EventHandler = (event: StoredEvent, context: ConsumeContext) => unknown

/** Events that a consumer could not read. */
export type ConsumerGap =
  | { readonly kind: 'trimmed'; readonly partition: number; readonly missed: number }
  | { readonly kind: 'log_replaced'; readonly partition: number }

export interface ConsumeOptions {
  /** Where a new consumer starts: at the oldest event that is kept, instead of now. An existing one continues where it stopped. */
  readonly fromStart?: boolean
  /** The same: after an event, by the cursor of a subscription. */
  readonly cursor?: string
  /** Events of one partition that are handled at the same time; 1 unless given. Those of one execution are handled in order anyway. */
  readonly concurrency?: number
  /** How often an event is tried before it is given up, logged and skipped. Unless given, it is retried until it succeeds. */
  readonly attempts?: number
  /** The longest delay between two tries; a minute unless given. */
  readonly retryMax?: Duration
  /** After how long without a sign of life another process continues; 15 s unless given. */
  readonly ttl?: Duration
  /** Called when events were trimmed before they could be read, or when the log was replaced. */
  readonly onGap?: (gap: ConsumerGap) => void
}

export const CONSUMER_TTL_DEFAULT_MS = 15_000
const CONSUMER_TTL_MIN_MS = 1_000
const CONCURRENCY_MAX = 256
const ATTEMPTS_MAX = 1_000
export const RETRY_MAX_DEFAULT_MS = 60_000

export const consumerFilter = shape<ConsumerFilter>()("{ types: ['execution_ended'] }", filterChecks)

export const consumeOptions = shape<ConsumeOptions>()('{ concurrency: 8 }', {
  fromStart: boolean,
  cursor: unchecked<string>(),
  concurrency: wholeNumber(1, CONCURRENCY_MAX),
  attempts: wholeNumber(1, ATTEMPTS_MAX),
  retryMax: (value, field) => parseDuration(value, field, 1),
  ttl: (value, field) => parseDuration(value, field, CONSUMER_TTL_MIN_MS),
  onGap: unchecked<(gap: ConsumerGap) => void>(),
})

export function checkConsumerName(value: unknown, field = 'name'): string {
  return checkTaskName(value, field)
}
