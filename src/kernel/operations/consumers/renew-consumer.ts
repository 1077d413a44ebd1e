/**
 * Renews a member of a consumer: stores its progress, extends its membership, and returns the partitions that it reads. A member
 * that did not renew in time loses its partitions. Members that read too many are asked to surrender some, and keep them until
 * they release them, so that no two live members read one partition. Idempotent per member and call number.
 */
import { CONSUMER_ERROR_LENGTH } from '../../limits.ts'
import type {
  Consumer,
  ConsumerFailure,
  ConsumerMember,
  ConsumerShare,
  EventFilter,
} from '../../model/consumer-schema.ts'
import type { Instant } from '../../model/records.ts'
import { refused } from '../../results.ts'
import type { Refused } from '../../results.ts'
import { shareQuota } from '../../rules/consumer-shares.ts'
import type { Tx } from '../../tx.ts'

/** A position in the log of one execution partition, by its number. */
export interface ConsumerPosition {
  readonly partition: number
  readonly position: number
  readonly mark?: number | undefined
}

export interface NewConsumer {
  readonly namespace: string
  readonly name: string
  /** Where the log of each partition begins for it, in the order of their numbers. */
  readonly positions: readonly Omit<ConsumerPosition, 'partition'>[]
}

export interface RenewConsumerInput {
  readonly consumerId: string
  readonly memberId: string
  /** Rises with every call of the member. */
  readonly callNumber: number
  readonly ttlMs: number
  readonly filter: EventFilter
  /** Creates the consumer if it does not exist. Absent: it has to exist. */
  readonly create?: NewConsumer | undefined
  /** The revision in which the progress was made. Progress of another one is not stored. */
  readonly revision?: number | undefined
  readonly progress: readonly ConsumerPosition[]
  /** Partitions that the member reads no more. */
  readonly release: readonly number[]
  /** Leaves: the member gets no partitions and gives back those that it has. */
  readonly isLeaving: boolean
  /** What happened since the previous call. */
  readonly handledCount: number
  readonly skippedCount: number
  readonly missedCount: number
  /** The event that is being retried. Absent: none fails at present. */
  readonly failure?: Omit<ConsumerFailure, 'at'> | undefined
}

export type RenewConsumerResult =
  | {
      readonly kind: 'consumer_renewed'
      readonly revision: number
      /** The partitions of the member. */
      readonly owned: readonly ConsumerPosition[]
      /** Those of them that it should release. */
      readonly surrender: readonly number[]
      readonly expiresAt: Instant
    }
  | Refused<'consumer_not_found'>

export function renewConsumer(tx: Tx, input: RenewConsumerInput): RenewConsumerResult {
  const found = tx.get('consumer', input.consumerId) ?? newConsumer(tx, input)
  if (found === undefined) return refused('consumer_not_found', { name: input.consumerId })

  const isRepeated = found.members.some(({ id, callNumber }) => id === input.memberId && callNumber >= input.callNumber)
  const advanced = isRepeated ? found : advance(tx, found, input)
  const members = renewedMembers(tx, advanced, input)
  const order = members.findIndex(({ id }) => id === input.memberId)
  const shares = divided(advanced.shares, members, input.memberId, order)
  const isWaiting = order < 0 && !input.isLeaving
  // The filter of a webhook is changed by its owner alone.
  const filter = found.webhook === undefined ? input.filter : found.filter
  if (!isWaiting) tx.put({ ...advanced, filter, members, shares, changedAt: tx.now })

  const owned: ConsumerPosition[] = []
  shares.forEach(({ position, mark, owner }, partition) => {
    if (owner === input.memberId) owned.push({ partition, position, mark })
  })
  return {
    kind: 'consumer_renewed',
    revision: advanced.revision,
    owned,
    surrender: order < 0 ? [] : owned.slice(shareQuota(shares.length, members.length, order)).map((p) => p.partition),
    expiresAt: tx.now + input.ttlMs,
  }
}

function newConsumer(tx: Tx, { consumerId, filter, create }: RenewConsumerInput): Consumer | undefined {
  if (create === undefined) return undefined
  return {
    type: 'consumer',
    id: consumerId,
    namespace: create.namespace,
    name: create.name,
    filter,
    revision: 1,
    members: [],
    shares: create.positions.map(({ position, mark }) => ({ position, mark, owner: undefined })),
    handledCount: 0,
    skippedCount: 0,
    missedCount: 0,
    failure: undefined,
    createdAt: tx.now,
    changedAt: tx.now,
    webhook: undefined,
  }
}

/** Stores what a member reports, where it still owns the partition. */
function advance(tx: Tx, consumer: Consumer, input: RenewConsumerInput): Consumer {
  const isCurrent = input.revision === consumer.revision
  const shares = consumer.shares.slice()
  if (isCurrent) {
    for (const { partition, position, mark } of input.progress) {
      const share = shares[partition]
      if (share?.owner === input.memberId) shares[partition] = { ...share, position, mark }
    }
  }
  for (const partition of input.release) {
    const share = shares[partition]
    if (share?.owner === input.memberId) shares[partition] = { ...share, owner: undefined }
  }
  return {
    ...consumer,
    shares,
    handledCount: consumer.handledCount + input.handledCount,
    skippedCount: consumer.skippedCount + input.skippedCount,
    missedCount: consumer.missedCount + input.missedCount,
    failure: failureAfter(tx, consumer, shares, input),
  }
}

/** A failure is shown until the partition in which it occurred has advanced past the event. */
function failureAfter(
  tx: Tx,
  { failure }: Consumer,
  shares: readonly ConsumerShare[],
  input: RenewConsumerInput,
): ConsumerFailure | undefined {
  if (input.failure !== undefined) {
    return { ...input.failure, at: tx.now, error: input.failure.error.substring(0, CONSUMER_ERROR_LENGTH) }
  }
  if (failure === undefined || (shares[failure.partition]?.position ?? 0) >= failure.sequence) return undefined
  return failure
}

/**
 * Returns the live members with the caller, unless it leaves. At most one for each partition, in the order in which they joined: a
 * further one waits until another is gone.
 */
function renewedMembers(tx: Tx, { members, shares }: Consumer, input: RenewConsumerInput): ConsumerMember[] {
  const { memberId: id, callNumber } = input
  const live = members.filter((member) => member.id === id || member.expiresAt > tx.now)
  if (input.isLeaving) return live.filter((member) => member.id !== id)
  const renewed = { id, expiresAt: tx.now + input.ttlMs, callNumber }
  if (!live.some((member) => member.id === id)) return live.length < shares.length ? [...live, renewed] : live
  return live.map((member) =>
    member.id === id ? { ...renewed, callNumber: Math.max(callNumber, member.callNumber) } : member,
  )
}

/** Frees the partitions of members that are gone, and gives free ones to the caller up to its quota. */
function divided(
  shares: readonly ConsumerShare[],
  members: readonly ConsumerMember[],
  memberId: string,
  order: number,
): ConsumerShare[] {
  const quota = order < 0 ? 0 : shareQuota(shares.length, members.length, order)
  let ownedCount = shares.filter(({ owner }) => owner === memberId).length
  return shares.map((share) => {
    const isFree = share.owner === undefined || !members.some(({ id }) => id === share.owner)
    if (!isFree) return share
    if (ownedCount >= quota) return share.owner === undefined ? share : { ...share, owner: undefined }
    ownedCount++
    return { ...share, owner: memberId }
  })
}
