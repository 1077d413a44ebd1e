/** How many executions each lane has in each state, counted from the indexes. */
import { QUEUES_INDEX, laneIndex, readyIndex } from './indexes.ts'
import { COUNT_MAX, QUEUE_SCAN_COUNT } from './limits.ts'
import type { Queue } from './records.ts'
import { publicStates } from './state.ts'
import type { PublicState } from './state.ts'
import type { Position, Tx } from './tx.ts'

export interface CountInput {
  readonly lane?: string | undefined
  /** Where an earlier call stopped. */
  readonly cursor?: Position | undefined
}

export interface LaneCounts {
  readonly lane: string
  /** A count that reaches the limit of counting stands at the limit. */
  readonly counts: { readonly state: PublicState; readonly count: number }[]
  readonly classes: string[]
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
  // Queues come in the order of their ids, which begin with the lane: those of one lane stand together.
  let classes: string[] = []
  for (let i = 0; i < queues.length; i++) {
    const queue = queues[i]
    if (queue === undefined || (input.lane !== undefined && queue.lane !== input.lane)) continue
    classes.push(queue.class)
    const next: Queue | undefined = queues[i + 1]
    if (next?.lane === queue.lane) continue
    lanes.push({ lane: queue.lane, counts: countLane(tx, queue.lane, classes), classes })
    classes = []
  }
  return { kind: 'counted', lanes, cursor: last === undefined ? undefined : { score: 0, id: last.id } }
}

function countLane(
  tx: Tx,
  lane: string,
  classes: readonly string[],
): { readonly state: PublicState; readonly count: number }[] {
  const counts: { readonly state: PublicState; readonly count: number }[] = []
  for (const state of publicStates) {
    let count = tx.countUpTo({ index: laneIndex(lane, state), limit: COUNT_MAX })
    if (state === 'waiting') {
      for (const className of classes) {
        count = count + tx.countUpTo({ index: readyIndex(lane, className), limit: COUNT_MAX })
      }
    }
    if (count > 0) counts.push({ state, count })
  }
  return counts
}
