/** Registers the queues of executions and removes empty ones. */
import { QUEUES_INDEX, laneIndex, queueId, readyIndex } from '../model/indexes.ts'
import { publicStates } from '../model/public-state.ts'
import type { Execution } from '../model/records.ts'
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

export function queueOf(execution: Execution): string {
  return queueId(execution.lane, execution.class)
}

export function registerQueue(tx: Tx, execution: Execution): void {
  const id = queueOf(execution)
  if (tx.has('queue', id)) return
  tx.put({ type: 'queue', id, lane: execution.lane, class: execution.class, createdAt: tx.now })
}
