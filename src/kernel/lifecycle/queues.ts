/** Registers the queues of executions and removes empty ones. */
import { QUEUES_INDEX, laneIndex, queueId, readyIndex } from '../model/indexes.ts'
import { publicStates } from '../model/public-state.ts'
import type { Execution } from '../model/records.ts'
import type { Tx } from '../tx.ts'

/** Removes the empty queues of a lane. Otherwise one would remain for every lane and class that was ever named. */
export function removeEmptyQueues(tx: Tx, lane: string): void {
  // Executions that are not ready are indexed by lane, whatever their class, so only an empty lane has empty queues.
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
