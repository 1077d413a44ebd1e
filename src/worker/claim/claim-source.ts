/** A claim source: one partition with one group of queues, and hints about the work there. */
import type { Hand } from '../permits/hand.ts'
import { CLAIM_QUEUE_COUNT_MAX } from '../../kernel/index.ts'
import type { ClaimInput, QueueName } from '../../kernel/index.ts'
import type { Timer } from '../../runtime/index.ts'
import { executionPartition } from '../../stores/store.ts'
import type { Partition } from '../../stores/store.ts'
import type { ServedTask } from '../served-task.ts'
import type { ClaimGroup } from './claim-group.ts'

/** A pending claim. */
export interface ClaimRequest {
  readonly source: ClaimSource
  readonly input: ClaimInput
  /** The permits that it has. */
  readonly hand: Hand | undefined
}

export interface ClaimSource {
  readonly partition: Partition
  /** Its queues: those of its group, and learnt ones. Replaced when they change, because pending claims refer to them. */
  queues: readonly QueueName[]
  /** The only task of its queues, if it is claimed alone. */
  readonly task: ServedTask | undefined
  /** A wake-up or a reply has indicated ready work. */
  hasReadyHint: boolean
  /** The last claim returned executions, and there were more. */
  hasMore: boolean
  /** The source is to be claimed from without a hint. */
  isSweepDue: boolean
  /** Since when a claim is due, on the monotonic clock; Infinity if none is. */
  dueSince: number
  /** The number of its last claim; claims are numbered in order. */
  claimOrder: number
  /** The claim without a reply yet: in flight, or waiting for its retry. */
  request: ClaimRequest | undefined
  failureCount: number
  /** Runs until the claim without a reply is retried. */
  retryTimer: Timer | undefined
  /** Until then, wake-ups that name no index are throttled. */
  throttledUntil: number
  /** Runs until then, if a wake-up was throttled. */
  throttleTimer: Timer | undefined
}

export function makeSources(partitionCount: number, groups: readonly ClaimGroup[]): ClaimSource[] {
  const partitions = Array.from({ length: partitionCount }, (_, number) => executionPartition(number))
  return partitions.flatMap((partition) => groups.map((group) => makeSource(partition, group)))
}

export function makeSource(partition: Partition, { queues, task }: ClaimGroup): ClaimSource {
  return {
    partition,
    queues,
    task,
    hasReadyHint: false,
    hasMore: false,
    isSweepDue: false,
    dueSince: Infinity,
    claimOrder: 0,
    request: undefined,
    failureCount: 0,
    retryTimer: undefined,
    throttledUntil: -Infinity,
    throttleTimer: undefined,
  }
}

/** Whether a source can take one more queue for a task. */
export function hasPlaceFor(source: ClaimSource, partition: Partition, task: ServedTask): boolean {
  const isFitting = source.task === (task.isClaimedAlone ? task : undefined)
  return isFitting && source.partition === partition && source.queues.length < CLAIM_QUEUE_COUNT_MAX
}

/** Whether no claim is pending: a source has one at a time. */
export function isFree(source: ClaimSource): boolean {
  return source.request === undefined
}

/** Whether a claim is due and none is pending. */
export function isClaimDue(source: ClaimSource): boolean {
  // All its queues may have been learnt and forgotten.
  return isFree(source) && (source.hasReadyHint || source.isSweepDue) && source.queues.length > 0
}

/** Notes since when a claim is due. */
export function markDue(source: ClaimSource, monotonic: number): void {
  source.dueSince = Math.min(source.dueSince, monotonic)
}

/**
 * Sorts due sources. The least recently claimed one comes first, so that no source starves. Sources whose partition gets a batch
 * anyway precede those that are not starving.
 */
export function inClaimOrder(
  sources: ClaimSource[],
  reported: ReadonlyMap<Partition, number>,
  starvingSince: number,
): ClaimSource[] {
  const rank = ({ dueSince, partition }: ClaimSource) =>
    dueSince < starvingSince ? 0 : reported.has(partition) ? 1 : 2
  return sources.sort((a, b) => rank(a) - rank(b) || a.claimOrder - b.claimOrder)
}
