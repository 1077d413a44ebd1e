/** Registers the queues of executions and removes empty ones. */
import { NEEDS_CLASS_MAX } from '../limits.ts'
import { QUEUES_INDEX, laneIndex, queueId, readyIndex } from '../model/indexes.ts'
import { publicStates } from '../model/public-state.ts'
import type { Execution, Queue } from '../model/records.ts'
import { DEFAULT_NAMESPACE, needsStart, parseClass, taskClass } from '../model/task-class.ts'
import { refused } from '../results.ts'
import type { Refused } from '../results.ts'
import { removeTurns, takeTurn } from './turns.ts'
import type { Tx } from '../tx.ts'

/** Removes the empty queues of a lane. Otherwise one would remain for every lane and class that was ever named. */
export function removeEmptyQueues(tx: Tx, lane: string): void {
  // Executions that are not ready are indexed by lane, whatever their class, so only an empty lane has empty queues.
  for (const state of publicStates) if (tx.countUpTo({ index: laneIndex(lane, state), limit: 1 }) > 0) return
  const queues = tx.scan({ index: QUEUES_INDEX, from: { score: 0, id: lane }, limit: tx.room() }, 'queue')
  for (const queue of queues) {
    if (queue.lane !== lane) break
    if (tx.countUpTo({ index: readyIndex(lane, queue.class), limit: 1 }) > 0) return
    tx.remove('queue', queue.id)
  }
  removeTurns(tx, lane)
}

export function queueOf(execution: Execution): string {
  return queueId(execution.lane, execution.class)
}

/** Registers the queue of a new execution, and gives the execution its turn if it takes turns. The caller puts the execution. */
export function enterQueue(tx: Tx, execution: Execution): void {
  takeTurn(tx, execution)
  registerQueue(tx, execution)
}

export function registerQueue(tx: Tx, execution: Execution): void {
  const id = queueOf(execution)
  const keeps = keptNumberOf(execution)
  const { lane, class: className, needs } = execution
  if (!tx.has('queue', id)) {
    tx.put({ type: 'queue', id, lane, class: className, createdAt: tx.now, needs, keeps })
    return
  }
  if (keeps === undefined) return
  const queue = tx.get('queue', id)
  if (queue === undefined || queue.keeps?.count === keeps.count) return
  tx.put({ ...queue, keeps })
}

/** How many ended executions its task keeps, if there is a limit. Of a member, its flow decides. */
function keptNumberOf({ namespace, task, retentions, member }: Execution): Queue['keeps'] {
  const count = retentions?.keep
  return count === undefined || member !== undefined ? undefined : { namespace, task, count }
}

/** What a submit says about the queue that it needs. */
export interface WantedQueue {
  readonly lane: string
  readonly class: string
  readonly needs?: readonly string[] | undefined
}

/**
 * Refuses new queues with needs beyond the limit. Queues without needs are not counted: there is one for each task, version and
 * namespace. Concurrent submits may exceed the limit by a few, because they do not see the queues of each other.
 */
export function refuseQueues(tx: Tx, wanted: readonly WantedQueue[]): Refused<'too_many_needs'> | undefined {
  const added: Record<string, number> = {}
  const seen: Record<string, boolean> = {}
  for (const { lane, class: className, needs } of wanted) {
    const id = queueId(lane, className)
    if (needs === undefined || seen[id] === true) continue
    seen[id] = true
    if (tx.has('queue', id)) continue
    const start = queueId(lane, needsStart(className))
    const count = (added[start] ?? countQueues(tx, start)) + 1
    added[start] = count
    if (count > NEEDS_CLASS_MAX) {
      return refused('too_many_needs', { limit: NEEDS_CLASS_MAX })
    }
  }
  return undefined
}

/** Counts the queues whose ids begin with a text, up to the limit. */
function countQueues(tx: Tx, start: string): number {
  let count = 0
  for (const { id } of tx.range({ index: QUEUES_INDEX, from: { score: 0, id: start }, limit: NEEDS_CLASS_MAX })) {
    if (!id.startsWith(start)) return count
    count = count + 1
  }
  return count
}

/** Whether the class of an execution lacks its namespace: an earlier version has submitted it. */
export function isMisfiled({ namespace, class: className }: Execution): boolean {
  return namespace !== DEFAULT_NAMESPACE && parseClass(className).namespace !== namespace
}

/** Gives an execution the class of its own namespace, and puts it. It keeps its place in the order of claims. */
export function fileByNamespace(tx: Tx, execution: Execution): void {
  const { task, version, namespace, class: className } = execution
  execution.class = taskClass(task, version, { namespace, needs: parseClass(className).needs })
  registerQueue(tx, execution)
  tx.put(execution)
}
