/** Lists consumers, and describes one. A member that did not renew in time is not shown. */
import { CONSUMER_PAGE_MAX } from '../../limits.ts'
import { CONSUMERS_INDEX } from '../../model/indexes.ts'
import type { Consumer, Instant } from '../../model/records.ts'
import { refused } from '../../results.ts'
import type { Refused } from '../../results.ts'
import type { Range, Tx } from '../../tx.ts'

export interface ListConsumersInput {
  readonly namespace?: string | undefined
  /** Webhooks, instead of consumers that are functions. */
  readonly webhooks?: boolean | undefined
  /** The id after which the page begins. */
  readonly cursor?: string | undefined
}

export interface ListConsumersResult {
  readonly kind: 'consumers_listed'
  /** By namespace and name. */
  readonly consumers: Consumer[]
  readonly cursor: string | undefined
}

export function listConsumers(tx: Tx, input: ListConsumersInput): ListConsumersResult {
  const page = tx.scan(listConsumersRange(input), 'consumer')
  const cursor = page.length < CONSUMER_PAGE_MAX ? undefined : page[page.length - 1]?.id
  const consumers = page.filter(
    ({ namespace, webhook }) =>
      (input.namespace === undefined || namespace === input.namespace) &&
      (webhook !== undefined) === (input.webhooks === true),
  )
  return { kind: 'consumers_listed', consumers: consumers.map((consumer) => asSeen(consumer, tx.now)), cursor }
}

export function listConsumersRange({ cursor }: ListConsumersInput): Range {
  const from = cursor === undefined ? undefined : { score: 0, id: cursor }
  return { index: CONSUMERS_INDEX, from, limit: CONSUMER_PAGE_MAX }
}

export interface DescribeConsumerInput {
  readonly consumerId: string
}

export type DescribeConsumerResult =
  { readonly kind: 'consumer_described'; readonly consumer: Consumer } | Refused<'consumer_not_found'>

export function describeConsumer(tx: Tx, { consumerId }: DescribeConsumerInput): DescribeConsumerResult {
  const consumer = tx.get('consumer', consumerId)
  if (consumer === undefined) return refused('consumer_not_found', { name: consumerId })
  return { kind: 'consumer_described', consumer: asSeen(consumer, tx.now) }
}

function asSeen(consumer: Consumer, now: Instant): Consumer {
  const members = consumer.members.filter(({ expiresAt }) => expiresAt > now)
  const shares = consumer.shares.map((share) =>
    share.owner === undefined || members.some(({ id }) => id === share.owner) ? share : { ...share, owner: undefined },
  )
  return { ...consumer, members, shares }
}
