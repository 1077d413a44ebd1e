/** A claim source: one partition with one group of queues, and hints about the work there. */
import type { ClaimInput } from '../../kernel/index.ts'
import type { Timer } from '../../runtime/index.ts'
import { executionPartition } from '../../stores/store.ts'
import type { Partition } from '../../stores/store.ts'
import type { ClaimGroup } from './claim-group.ts'

/** A pending claim. */
export interface ClaimRequest {
  readonly source: ClaimSource
  readonly input: ClaimInput
}

export interface ClaimSource {
  readonly partition: Partition
  readonly group: ClaimGroup
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
  return partitions.flatMap((partition) =>
    groups.map((group) => ({
      partition,
      group,
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
    })),
  )
}

/** Whether no claim is pending: a source has one at a time. */
export function isFree(source: ClaimSource): boolean {
  return source.request === undefined
}

/** Whether a claim is due and none is pending. */
export function isClaimDue(source: ClaimSource): boolean {
  return isFree(source) && (source.hasReadyHint || source.isSweepDue)
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
