/** Counts the executions of each lane in each state, from the indexes. */
import { QUEUES_INDEX, laneIndex, readyIndex } from '../../model/indexes.ts'
import { COUNT_MAX, QUEUE_SCAN_COUNT } from '../../limits.ts'
import type { Instant, Queue } from '../../model/records.ts'
import { publicStates } from '../../model/public-state.ts'
import type { PublicState } from '../../model/public-state.ts'
import { SEPARATOR } from '../../model/names.ts'
import type { Tx } from '../../tx.ts'
import type { Position } from '../../model/order.ts'

export interface CountInput {
  readonly lane?: string | undefined
  /** Where an earlier call stopped. */
  readonly cursor?: Position | undefined
}

/** A lane may continue on the next page: the counts of both pages add up. */
export interface LaneCounts {
  readonly lane: string
  /** A count that reaches the counting limit equals the limit. */
  readonly counts: { readonly state: PublicState; readonly count: number }[]
  readonly classes: string[]
  /** Since when the executions wait that are claimed next; absent if none is ready. */
  readonly waitingSince: Instant | undefined
}

export interface CountResult {
  readonly kind: 'counted'
  readonly lanes: LaneCounts[]
  readonly cursor: Position | undefined
}

export function countExecutions(tx: Tx, input: CountInput): CountResult {
  const queues = tx.scan({ index: QUEUES_INDEX, from: input.cursor, limit: QUEUE_SCAN_COUNT }, 'queue')
  const last = queues.length === QUEUE_SCAN_COUNT ? queues[queues.length - 1] : undefined
  const lanes: LaneCounts[] = []
  // Queues are ordered by their ids, which begin with the lane, so the queues of one lane are adjacent.
  let classes: string[] = []
  for (let i = 0; i < queues.length; i++) {
    const queue = queues[i]
    if (queue === undefined || (input.lane !== undefined && queue.lane !== input.lane)) continue
    classes.push(queue.class)
    const next: Queue | undefined = queues[i + 1]
    if (next?.lane === queue.lane) continue
    const isContinued = lanes.length === 0 && startsWithLane(input.cursor?.id, queue.lane)
    const counts = countLane(tx, queue.lane, classes, isContinued)
    lanes.push({ lane: queue.lane, counts, classes, waitingSince: waitingSince(tx, queue.lane, classes) })
    classes = []
  }
  return { kind: 'counted', lanes, cursor: last === undefined ? undefined : { score: 0, id: last.id } }
}

function startsWithLane(queueId: string | undefined, lane: string): boolean {
  return queueId?.startsWith(lane + SEPARATOR) === true
}

function waitingSince(tx: Tx, lane: string, classes: readonly string[]): Instant | undefined {
  const heads = classes.flatMap((className) => tx.scan({ index: readyIndex(lane, className), limit: 1 }, 'execution'))
  const times = heads.map(({ changedAt }) => changedAt)
  return times.length === 0 ? undefined : Math.min(...times)
}

/** The states of a lane that began on an earlier page are counted there; only its remaining queues are added here. */
function countLane(
  tx: Tx,
  lane: string,
  classes: readonly string[],
  isContinued: boolean,
): { readonly state: PublicState; readonly count: number }[] {
  const counts: { readonly state: PublicState; readonly count: number }[] = []
  for (const state of publicStates) {
    let count = isContinued ? 0 : tx.countUpTo({ index: laneIndex(lane, state), limit: COUNT_MAX })
    if (state === 'waiting') {
      for (const className of classes) {
        count = count + tx.countUpTo({ index: readyIndex(lane, className), limit: COUNT_MAX })
      }
    }
    if (count > 0) counts.push({ state, count })
  }
  return counts
}
