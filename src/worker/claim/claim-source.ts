/** One partition with one group of queues: where a claim goes, and what is known of the work there. */
import type { ClaimInput } from '../../kernel/index.ts'
import type { Timer } from '../../runtime/index.ts'
import { executionPartition } from '../../stores/store.ts'
import type { Partition } from '../../stores/store.ts'
import type { ClaimGroup } from './claim-group.ts'

/** One claim, from being asked to being answered. */
export interface ClaimRequest {
  readonly source: ClaimSource
  readonly input: ClaimInput
}

export interface ClaimSource {
  readonly partition: Partition
  readonly group: ClaimGroup
  /** Something said that there is work. */
  hasReadyHint: boolean
  /** The last claim left work behind. */
  hasMore: boolean
  /** Nothing said so, but it is time to look. */
  isSweepDue: boolean
  /** When it was last asked, as a number that rises from claim to claim. */
  claimOrder: number
  /** The claim that was sent and is not answered, whether under way or waiting to be said again. */
  request: ClaimRequest | undefined
  failureCount: number
  /** Runs while an unanswered claim waits to be said again. */
  retryTimer: Timer | undefined
  /** Until then a change of nobody knows what is no reason to ask. */
  throttledUntil: number
  /** Runs until then, if there was such a change. */
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
      claimOrder: 0,
      request: undefined,
      failureCount: 0,
      retryTimer: undefined,
      throttledUntil: -Infinity,
      throttleTimer: undefined,
    })),
  )
}

/** One claim at a time. */
export function isFree(source: ClaimSource): boolean {
  return source.request === undefined
}

/** There is reason to ask, and nothing has been asked yet. */
export function isClaimDue(source: ClaimSource): boolean {
  return isFree(source) && (source.hasReadyHint || source.isSweepDue)
}
