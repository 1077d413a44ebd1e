/** Removes ended executions whose retention is over, oldest first, with everything that belongs to them. */
import { payloadKey, resultKey } from './blobs.ts'
import { matchesFilter } from './filter.ts'
import type { TenantFilter } from './filter.ts'
import { PURGE_INDEX, QUEUES_INDEX, attemptsIndex, laneIndex, readyIndex } from './indexes.ts'
import { ATTEMPT_HISTORY_MAX, PURGE_COUNT_MAX } from './limits.ts'
import type { Execution, Instant } from './records.ts'
import { publicStates } from './state.ts'
import type { IndexEntry, Position, Tx } from './tx.ts'

export interface PurgeInput {
  readonly filter?: TenantFilter | undefined
  readonly from?: Position | undefined
  /** Executions that failed repeatedly and are left alone for a while. */
  readonly skip?: readonly string[] | undefined
}

export interface PurgeResult {
  readonly kind: 'purged'
  readonly purged: string[]
  /** Where to go on, if more is due beyond what this call looked at. */
  readonly next: Position | undefined
  /** When the next retention ends, if nothing more is due now. */
  readonly nextDueAt: Instant | undefined
  /** The earliest end of a retention among those purged: against `at` it says how late they were. */
  readonly oldestDueAt: Instant | undefined
  readonly at: Instant
}

export function purgeExecutions(tx: Tx, input: PurgeInput): PurgeResult {
  const due = tx.range({ index: PURGE_INDEX, from: input.from, to: tx.now, limit: PURGE_COUNT_MAX })
  const ids: string[] = []
  for (const entry of due) if (input.skip === undefined || !input.skip.includes(entry.id)) ids.push(entry.id)
  const purged: string[] = []
  const lanes: string[] = []
  let oldestDueAt: Instant | undefined = undefined
  let outOfRoom = false
  for (const execution of tx.getMany('execution', ids)) {
    const state = execution.state
    if (state.phase !== 'ended') return tx.fault('an execution that has not ended is due to be purged', execution.id)
    if (!matchesFilter(execution, input.filter)) continue
    if (!removeExecution(tx, execution)) {
      outOfRoom = true
      break
    }
    purged.push(execution.id)
    oldestDueAt = oldestDueAt ?? state.at + execution.retentionMs
    if (!lanes.includes(execution.lane)) lanes.push(execution.lane)
    tx.emit('execution_purged', execution, {})
  }
  for (const lane of lanes) forgetEmptyQueues(tx, lane)
  const next = nextPosition(due, input, outOfRoom)
  const first =
    next === undefined ? tx.range({ index: PURGE_INDEX, from: { score: tx.now + 1 }, limit: 1 })[0] : undefined
  return { kind: 'purged', purged, next, nextDueAt: first?.score, oldestDueAt, at: tx.now }
}

/** What there was no room for stays at the head of the next call; a full page is followed by the one behind it. */
function nextPosition(due: readonly IndexEntry[], input: PurgeInput, outOfRoom: boolean): Position | undefined {
  if (outOfRoom) return input.from ?? { score: 0 }
  const last = due[due.length - 1]
  return due.length < PURGE_COUNT_MAX || last === undefined ? undefined : { score: last.score, id: last.id }
}

/** Removes an execution and all its attempts, or nothing at all: false if the operation has no room for it. */
export function removeExecution(tx: Tx, execution: Execution): boolean {
  const attempts = tx.range({ index: attemptsIndex(execution.id), limit: ATTEMPT_HISTORY_MAX + 1 })
  if (tx.room() < attempts.length + 2) return false
  for (const entry of attempts) tx.remove('attempt', entry.id)
  tx.forget(payloadKey(execution.id))
  tx.forget(resultKey(execution.id))
  tx.remove('execution', execution.id)
  return true
}

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
