/** Forgetting queues that are empty. */
import { QUEUES_INDEX, laneIndex, readyIndex } from '../model/indexes.ts'
import { publicStates } from '../rules/execution-state.ts'
import type { Tx } from '../tx.ts'

/** Queues that nobody uses any more would otherwise stay for ever, one for each lane and class that was ever named. */
export function forgetEmptyQueues(tx: Tx, lane: string): void {
  // What is not ready stands in an index of its lane, whatever its class: only a lane without any tells of each queue.
  for (const state of publicStates) if (tx.countUpTo({ index: laneIndex(lane, state), limit: 1 }) > 0) return
  const queues = tx.scan({ index: QUEUES_INDEX, from: { score: 0, id: lane }, limit: tx.room() }, 'queue')
  for (const queue of queues) {
    if (queue.lane !== lane) return
    if (tx.countUpTo({ index: readyIndex(lane, queue.class), limit: 1 }) === 0) tx.remove('queue', queue.id)
  }
}
