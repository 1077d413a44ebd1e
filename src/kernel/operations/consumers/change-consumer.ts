/** What operators change on a consumer: its positions, or that it exists. */
import { refused } from '../../results.ts'
import type { Refused } from '../../results.ts'
import type { Tx } from '../../tx.ts'
import type { ConsumerPosition } from './renew-consumer.ts'

export interface SeekConsumerInput {
  readonly consumerId: string
  /** The new positions. Partitions that are not named keep theirs; those that follow the last one are added. */
  readonly positions: readonly ConsumerPosition[]
}

export type SeekConsumerResult =
  { readonly kind: 'consumer_moved'; readonly revision: number } | Refused<'consumer_not_found'>

/** Moves a consumer. Progress that its members made before is not stored any more. */
export function seekConsumer(tx: Tx, { consumerId, positions }: SeekConsumerInput): SeekConsumerResult {
  const consumer = tx.get('consumer', consumerId)
  if (consumer === undefined) return refused('consumer_not_found', { name: consumerId })

  const shares = consumer.shares.slice()
  for (const { partition, position, mark } of positions) {
    const share = shares[partition]
    if (share !== undefined) shares[partition] = { ...share, position, mark }
    else if (partition === shares.length) shares.push({ position, mark, owner: undefined })
  }
  const revision = consumer.revision + 1
  tx.put({ ...consumer, shares, revision, failure: undefined, changedAt: tx.now })
  return { kind: 'consumer_moved', revision }
}

export interface DeleteConsumerInput {
  readonly consumerId: string
}

export type DeleteConsumerResult = { readonly kind: 'consumer_deleted' } | Refused<'consumer_not_found'>

/** Deletes a consumer with its positions. Its members stop at their next renewal. */
export function deleteConsumer(tx: Tx, { consumerId }: DeleteConsumerInput): DeleteConsumerResult {
  if (!tx.has('consumer', consumerId)) return refused('consumer_not_found', { name: consumerId })
  tx.remove('consumer', consumerId)
  return { kind: 'consumer_deleted' }
}
