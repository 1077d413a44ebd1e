/** The consumers of a store: how far they have come, and which processes they have. */
import type { Consumer, ConsumerFailure, ConsumerShare, EventFilter } from '../../kernel/index.ts'
import { shape } from '../../options/shape.ts'
import { STORE_PARTITION } from '../../stores/partitions.ts'
import type { EventPage, Store } from '../../stores/store.ts'
import { checkNamespace } from '../checks/names.ts'
import { logPartition } from '../events/event-logs.ts'
import type { Session } from '../session.ts'

export interface ConsumerSummary {
  readonly name: string
  readonly namespace: string
  readonly filter: EventFilter
  /** Events in the log that it has not examined, whether it wants them or not. */
  readonly lagCount: number
  /** When the oldest of them happened, by the clock of the store. */
  readonly waitingSince: number | undefined
  /** Live processes that have partitions. */
  readonly memberCount: number
  readonly handledCount: number
  /** Events that were given up after the last try. */
  readonly skippedCount: number
  /** Events that were trimmed before they were read. */
  readonly missedCount: number
  /** The event that is being retried. */
  readonly failure: ConsumerFailure | undefined
  readonly createdAt: number
  readonly changedAt: number
}

export interface ConsumerPartition {
  readonly partition: number
  /** The last event that was handled, or that the filter excludes. */
  readonly position: number
  readonly lagCount: number
  /** The process that reads it. */
  readonly memberId: string | undefined
}

export interface ConsumerDescription extends ConsumerSummary {
  readonly partitions: readonly ConsumerPartition[]
}

export interface ListConsumersOptions {
  readonly namespace?: string | undefined
}

const listOptions = shape<ListConsumersOptions>()("{ namespace: 'acme' }", { namespace: checkNamespace })

/** Pages that a listing reads, of 20 consumers each. */
const PAGES_MAX = 50

export async function listConsumers(session: Session, options: ListConsumersOptions): Promise<ConsumerSummary[]> {
  const namespace = session.listed(listOptions(options).namespace)
  const summaries: ConsumerSummary[] = []
  for (const consumer of await readConsumers(session, { namespace })) {
    const { partitions: _, ...summary } = await describeConsumer(session.batcher.store, consumer)
    summaries.push(summary)
  }
  return summaries
}

interface ReadConsumersOptions {
  readonly namespace: string | undefined
  /** Webhooks, instead of consumers that are functions. */
  readonly webhooks?: boolean
  readonly pagesMax?: number
}

export async function readConsumers(
  session: Session,
  { namespace, webhooks, pagesMax = PAGES_MAX }: ReadConsumersOptions,
): Promise<Consumer[]> {
  const found: Consumer[] = []
  let cursor: string | undefined
  for (let page = 0; page < pagesMax; page++) {
    const { result } = await session.runIn(STORE_PARTITION, 'listConsumers', { namespace, cursor, webhooks })
    found.push(...result.consumers)
    cursor = result.cursor
    if (cursor === undefined) break
  }
  return found
}

export async function describeConsumer(store: Store, consumer: Consumer): Promise<ConsumerDescription> {
  const { name, namespace, filter, members, shares, failure, createdAt, changedAt } = consumer
  const { handledCount, skippedCount, missedCount } = consumer
  const lags = await Promise.all(shares.map((share, number) => lagOf(store, number, share)))
  const waiting = lags.flatMap(({ since }) => since ?? [])
  return {
    name,
    namespace,
    filter,
    lagCount: lags.reduce((sum, { lagCount }) => sum + lagCount, 0),
    waitingSince: waiting.length === 0 ? undefined : Math.min(...waiting),
    memberCount: members.length,
    handledCount,
    skippedCount,
    missedCount,
    failure,
    createdAt,
    changedAt,
    partitions: shares.map(({ position, owner }, partition) => {
      return { partition, position, lagCount: lags[partition]?.lagCount ?? 0, memberId: owner }
    }),
  }
}

async function lagOf(store: Store, number: number, { position }: ConsumerShare) {
  const page = await store.readEvents(logPartition(store.settings, number), position, 1)
  return { lagCount: page.lastSequence - resumeAfter(position, page), since: page.events[0]?.at }
}

/** Returns the event after which a reader at a position continues. A log that ends before the position was replaced: all of it waits. */
export function resumeAfter(
  position: number,
  { firstSequence, lastSequence }: Pick<EventPage, 'firstSequence' | 'lastSequence'>,
): number {
  const isReplaced = lastSequence < position
  return isReplaced ? firstSequence - 1 : Math.max(position, firstSequence - 1)
}
