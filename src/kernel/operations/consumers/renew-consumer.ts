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

/** Logs that a consumer does not read yet, because the store had fewer when it was created. */
export interface AddedLogs {
  /** The number of the first one. They are added if the consumer has exactly those before. */
  readonly from: number
  readonly positions: NewConsumer['positions']
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
  /**
   * Only so many partitions are divided, those of executions. Each further one goes with one of them, because its log grows slowly.
   * Absent: all are divided.
   */
  readonly dividedCount?: number | undefined
  /** The logs that the store has beside those of the consumer. Absent: none that the member knows of. */
  readonly added?: AddedLogs | undefined
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
      /** How many logs the consumer reads. */
      readonly logCount: number
    }
  | Refused<'consumer_not_found'>

export function renewConsumer(tx: Tx, input: RenewConsumerInput): RenewConsumerResult {
  const found = tx.get('consumer', input.consumerId) ?? newConsumer(tx, input)
  if (found === undefined) return refused('consumer_not_found', { name: input.consumerId })

  const isRepeated = found.members.some(({ id, callNumber }) => id === input.memberId && callNumber >= input.callNumber)
  const advanced = isRepeated ? found : advance(tx, found, input)
  const count = Math.min(input.dividedCount ?? Infinity, advanced.shares.length)
  const members = renewedMembers(tx, advanced, input, count)
  const order = members.findIndex(({ id }) => id === input.memberId)
  const quota = order < 0 ? 0 : shareQuota(count, members.length, order)
  const freed = withoutGone(advanced.shares, members)
  const led = divided(freed.slice(0, count), input.memberId, quota)
  const shares = [...led, ...following(freed, led, input.memberId)]
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
    surrender: order < 0 ? [] : excess(owned, count, quota),
    expiresAt: tx.now + input.ttlMs,
    logCount: shares.length,
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
    shares: create.positions.map(newShare),
    handledCount: 0,
    skippedCount: 0,
    missedCount: 0,
    failure: undefined,
    createdAt: tx.now,
    changedAt: tx.now,
    webhook: undefined,
  }
}

function newShare({ position, mark }: NewConsumer['positions'][number]): ConsumerShare {
  return { position, mark, owner: undefined }
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
  const { added } = input
  if (added?.from === shares.length) shares.push(...added.positions.map(newShare))
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
function renewedMembers(tx: Tx, { members }: Consumer, input: RenewConsumerInput, countMax: number): ConsumerMember[] {
  const { memberId: id, callNumber } = input
  const live = members.filter((member) => member.id === id || member.expiresAt > tx.now)
  if (input.isLeaving) return live.filter((member) => member.id !== id)
  const renewed = { id, expiresAt: tx.now + input.ttlMs, callNumber }
  if (!live.some((member) => member.id === id)) return live.length < countMax ? [...live, renewed] : live
  return live.map((member) =>
    member.id === id ? { ...renewed, callNumber: Math.max(callNumber, member.callNumber) } : member,
  )
}

/** Frees the partitions of members that are gone. */
function withoutGone(shares: readonly ConsumerShare[], members: readonly ConsumerMember[]): ConsumerShare[] {
  return shares.map((share) =>
    share.owner === undefined || members.some(({ id }) => id === share.owner) ? share : { ...share, owner: undefined },
  )
}

/** Gives free partitions to a member, up to its quota. */
function divided(shares: readonly ConsumerShare[], memberId: string, quota: number): ConsumerShare[] {
  let ownedCount = shares.filter(({ owner }) => owner === memberId).length
  return shares.map((share) => {
    if (share.owner !== undefined || ownedCount >= quota) return share
    ownedCount++
    return { ...share, owner: memberId }
  })
}

/** Gives a member the free ones of the further partitions that go with its own. */
function following(shares: readonly ConsumerShare[], led: readonly ConsumerShare[], memberId: string): ConsumerShare[] {
  return shares.slice(led.length).map((share, i) => {
    const isFree = share.owner === undefined && led[i % led.length]?.owner === memberId
    return isFree ? { ...share, owner: memberId } : share
  })
}

/** Returns the partitions beyond the quota of their owner, with those that go with partitions of others. */
function excess(owned: readonly ConsumerPosition[], dividedCount: number, quota: number): number[] {
  const numbers = owned.map(({ partition }) => partition)
  const kept = numbers.filter((number) => number < dividedCount).slice(0, quota)
  return numbers.filter(
    (number) => !kept.includes(number < dividedCount ? number : (number - dividedCount) % dividedCount),
  )
}
