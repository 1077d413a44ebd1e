/** Lists the settings of lanes from the partition of the whole store. */
import { COPYING_LANES_INDEX, LANES_INDEX } from '../../model/indexes.ts'
import type { Lane } from '../../model/lane-schema.ts'
import type { Position } from '../../model/order.ts'
import { LANE_PAGE_MAX } from '../../limits.ts'
import type { Range, Tx } from '../../tx.ts'

export interface ListLanesInput {
  /** Only lanes whose copies may be of an earlier version. */
  readonly isCopying?: boolean | undefined
  readonly cursor?: Position | undefined
}

export interface ListLanesResult {
  readonly kind: 'lanes_listed'
  readonly lanes: Lane[]
  readonly cursor: Position | undefined
}

export function listLanes(tx: Tx, input: ListLanesInput): ListLanesResult {
  const lanes = tx.scan(lanesRange(input), 'lane')
  const last = lanes.length === LANE_PAGE_MAX ? lanes[lanes.length - 1] : undefined
  return { kind: 'lanes_listed', lanes, cursor: last === undefined ? undefined : { score: 0, id: last.id } }
}

export function lanesRange({ isCopying, cursor }: ListLanesInput): Range {
  return { index: isCopying === true ? COPYING_LANES_INDEX : LANES_INDEX, from: cursor, limit: LANE_PAGE_MAX }
}
