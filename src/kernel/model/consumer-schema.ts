/** Durable consumers of the event log, as they are stored. New fields go to the end. */
import { flag, frozenList, frozenObject, maybe, record, text, whole } from './field-kinds.ts'
import type { Infer, InferRecord } from './field-kinds.ts'

const eventFilter = frozenObject({
  /** Types of events. Texts, because a later version may know further ones. */
  types: maybe(frozenList(text)),
  namespace: maybe(text),
  task: maybe(text),
  lane: maybe(text),
  tag: maybe(frozenObject({ name: text, value: text })),
  /** Also events that belong to no namespace, although there is one above. */
  storeWide: maybe(flag),
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

const sealedSecret = frozenObject({
  /** The key of the ring that seals it. */
  keyId: text,
  sealed: text,
  createdAt: whole,
  /** When it stops signing, after a rotation. */
  until: maybe(whole),
})

/** A secret of a webhook, encrypted with a key that is not in the store. */
export type SealedSecret = Infer<typeof sealedSecret>

const webhook = frozenObject({
  url: text,
  /** The newest first. */
  secrets: frozenList(sealedSecret),
  /** Tries may fail for so long before it is disabled. */
  disableAfterMs: whole,
  disabled: maybe(frozenObject({ at: whole, by: text, reason: maybe(text) })),
  /** Since when every reported try has failed. */
  failingSince: maybe(whole),
  error: maybe(text),
})

/** Where the events of a consumer are sent. */
export type Webhook = Infer<typeof webhook>

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
  /** Its events are sent there, instead of to a function. */
  webhook: maybe(webhook),
})

/** A named reader of the event log whose position is stored. In the partition of the whole store. */
export interface Consumer extends InferRecord<typeof consumer> {}
