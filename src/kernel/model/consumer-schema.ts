/** Durable consumers of the event log, as they are stored. New fields go to the end. */
import { frozenList, frozenObject, maybe, record, text, whole } from './field-kinds.ts'
import type { Infer, InferRecord } from './field-kinds.ts'

const eventFilter = frozenObject({
  /** Types of events. Texts, because a later version may know further ones. */
  types: maybe(frozenList(text)),
  namespace: maybe(text),
  task: maybe(text),
  lane: maybe(text),
  tag: maybe(frozenObject({ name: text, value: text })),
})

/** Which events a consumer handles. The kernel stores it and never applies it. */
export type EventFilter = Infer<typeof eventFilter>

const consumerShare = frozenObject({
  /** The last event that was handled, or that the filter excludes. 0: none. */
  position: whole,
  /** Identifies the event at the position; absent if none was read there. */
  mark: maybe(whole),
  /** The member that handles the events of this partition. */
  owner: maybe(text),
})

/** How far a consumer has come in one partition. */
export type ConsumerShare = Infer<typeof consumerShare>

const consumerMember = frozenObject({
  /** Identifies one start of a process. */
  id: text,
  /** The member loses its partitions unless it renews before. */
  expiresAt: whole,
  /** The number of its latest call, so that a repeated one is applied once. */
  callNumber: whole,
})

/** One process of a consumer. */
export type ConsumerMember = Infer<typeof consumerMember>

const consumerFailure = frozenObject({
  at: whole,
  partition: whole,
  sequence: whole,
  /** How often the event was tried. */
  tryCount: whole,
  error: text,
})

/** The event that a consumer failed to handle last. */
export type ConsumerFailure = Infer<typeof consumerFailure>

export const consumer = record('consumer', {
  /** Namespace and name. */
  id: text,
  namespace: text,
  name: text,
  filter: eventFilter,
  /** Rises when an operator moves the consumer. Progress from before does not count then. */
  revision: whole,
  members: frozenList(consumerMember),
  /** One for each execution partition, in the order of their numbers. */
  shares: frozenList(consumerShare),
  handledCount: whole,
  /** Events that were given up after the last try. */
  skippedCount: whole,
  /** Events that were trimmed before they were read. */
  missedCount: whole,
  failure: maybe(consumerFailure),
  createdAt: whole,
  changedAt: whole,
})

/** A named reader of the event log whose position is stored. In the partition of the whole store. */
export interface Consumer extends InferRecord<typeof consumer> {}
