/** Removes ended executions and flows whose retention is over, oldest first, with everything that belongs to them. */
import { matchesFilter } from './filter.ts'
import type { TenantFilter } from './filter.ts'
import { isFlowSettled } from './flows/flow-state.ts'
import { removeFlow } from './flows/remove-flow.ts'
import { forgetEmptyQueues } from './forget-queues.ts'
import { PURGE_INDEX } from './indexes.ts'
import { PURGE_COUNT_MAX } from './limits.ts'
import type { Execution, Instant } from './records.ts'
import { removeExecution } from './remove-execution.ts'
import { isFlowId } from './text.ts'
import type { IndexEntry, Position, Tx } from './tx.ts'

export interface PurgeInput {
  readonly filter?: TenantFilter | undefined
  readonly from?: Position | undefined
  /** Executions that failed repeatedly and are left alone for a while. */
  readonly skip?: readonly string[] | undefined
}

export interface PurgeResult {
  readonly kind: 'purged'
  /** Executions, those of flows included. */
  readonly purged: string[]
  readonly purgedFlows: string[]
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
  const executionIds: string[] = []
  const flowIds: string[] = []
  for (const entry of due) {
    if (input.skip?.includes(entry.id) === true) continue
    if (isFlowId(entry.id)) flowIds.push(entry.id)
    else executionIds.push(entry.id)
  }
  const removed: Execution[] = []
  const purgedFlows: string[] = []
  let oldestDueAt: Instant | undefined = undefined
  let outOfRoom = false
  for (const execution of tx.getMany('execution', executionIds)) {
    const state = execution.state
    if (state.phase !== 'ended') return tx.fault('an execution that has not ended is due to be purged', execution.id)
    if (!matchesFilter(execution, input.filter)) continue
    if (!removeExecution(tx, execution)) {
      outOfRoom = true
      break
    }
    removed.push(execution)
    oldestDueAt = oldestDueAt ?? state.at + execution.retentionMs
    tx.emit('execution_purged', execution, {})
  }
  for (const flow of outOfRoom ? [] : tx.getMany('flow', flowIds)) {
    if (!isFlowSettled(flow)) return tx.fault('a flow that has not settled is due to be purged', flow.id)
    if (!matchesFilter(flow, input.filter)) continue
    oldestDueAt = oldestDueAt ?? flow.changedAt + flow.retentionMs
    if (!removeFlow(tx, flow, removed)) {
      outOfRoom = true
      break
    }
    purgedFlows.push(flow.id)
  }
  const purged: string[] = []
  const lanes: string[] = []
  for (const execution of removed) {
    purged.push(execution.id)
    if (!lanes.includes(execution.lane)) lanes.push(execution.lane)
  }
  for (const lane of lanes) forgetEmptyQueues(tx, lane)
  const next = nextPosition(due, input, outOfRoom)
  const first =
    next === undefined ? tx.range({ index: PURGE_INDEX, from: { score: tx.now + 1 }, limit: 1 })[0] : undefined
  return { kind: 'purged', purged, purgedFlows, next, nextDueAt: first?.score, oldestDueAt, at: tx.now }
}

/** What there was no room for stays at the head of the next call; a full page is followed by the one behind it. */
function nextPosition(due: readonly IndexEntry[], input: PurgeInput, outOfRoom: boolean): Position | undefined {
  if (outOfRoom) return input.from ?? { score: 0 }
  const last = due[due.length - 1]
  return due.length < PURGE_COUNT_MAX || last === undefined ? undefined : { score: last.score, id: last.id }
}
