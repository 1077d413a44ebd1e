/** Copies the settings of a lane into the execution partitions. */
import type { Lane } from '../../model/lane-schema.ts'
import type { Tx } from '../../tx.ts'

export interface ApplyLaneInput {
  readonly lane: Lane
}

export interface ApplyLaneResult {
  readonly kind: 'lane_applied' | 'lane_up_to_date'
}

/** Stores a copy in an execution partition, unless it has that version or a later one. */
export function applyLane(tx: Tx, { lane }: ApplyLaneInput): ApplyLaneResult {
  const present = tx.get('lane', lane.id)
  if (present !== undefined && present.version >= lane.version) return { kind: 'lane_up_to_date' }
  tx.put({ ...lane, isCopying: undefined })
  return { kind: 'lane_applied' }
}

export interface ConfirmLaneInput {
  readonly lane: string
  readonly version: number
}

export interface ConfirmLaneResult {
  readonly kind: 'lane_confirmed' | 'lane_outdated'
}

/** Notes that all copies have a version. A later change is not confirmed by it. */
export function confirmLane(tx: Tx, input: ConfirmLaneInput): ConfirmLaneResult {
  const lane = tx.get('lane', input.lane)
  if (lane === undefined || lane.version !== input.version) return { kind: 'lane_outdated' }
  if (lane.isCopying === true) tx.put({ ...lane, isCopying: undefined })
  return { kind: 'lane_confirmed' }
}
