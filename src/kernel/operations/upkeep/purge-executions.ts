/**
 * Removes ended executions and flows after their retention, oldest first, with everything that belongs to them, or those of a
 * task that keeps no more than a number. If an id stays taken for longer, a small record of it is kept until then.
 */
import { matchesFilter } from '../../rules/tenant-filter.ts'
import type { TenantFilter } from '../../rules/tenant-filter.ts'
import { keptMsOf } from '../../rules/execution-state.ts'
import { isFlowFinished } from '../../rules/flow-state.ts'
import { removeFlow } from '../../lifecycle/endings/remove-flow.ts'
import { removeEmptyQueues } from '../../lifecycle/queues.ts'
import { PURGE_INDEX, keptIndex } from '../../model/indexes.ts'
import { PURGE_COUNT_MAX } from '../../limits.ts'
import type { Execution, Instant } from '../../model/records.ts'
import { removeExecution } from '../../lifecycle/endings/remove-execution.ts'
import { inDueOrder } from '../../rules/due-order.ts'
import { isFlowId } from '../../model/names.ts'
import type { Range, Tx } from '../../tx.ts'
import type { IndexEntry, Position } from '../../model/order.ts'

export interface PurgeInput {
  readonly filter?: TenantFilter | undefined
  readonly from?: Position | undefined
  /** Instead of those after their retention: the oldest ones that a task keeps by number. */
  readonly kept?: KeptPart | undefined
  /** Executions that failed repeatedly and are skipped for a while. */
  readonly skip?: readonly string[] | undefined
  /** Reports of parts of this call that were applied before it had to run again. Only a store sets it. */
  readonly applied?: readonly PurgeReport[] | undefined
}

/** The oldest ended executions of a task. */
export interface KeptPart {
  readonly namespace: string
  readonly task: string
  readonly count: number
  /** None that ended later is removed, so that a repeated call removes nothing more. */
  readonly to: Instant
}

/** What was removed for one entry of the index. */
export interface PurgeReport {
  readonly executionIds: readonly string[]
  /** The flow, once it is removed completely. */
  readonly flowId: string | undefined
  readonly lanes: readonly string[]
  /** When its retention ended. */
  readonly dueAt: Instant
}

export interface PurgeResult {
  readonly kind: 'purged'
  /** Executions, including those of flows. */
  readonly purged: string[]
  readonly purgedFlows: string[]
  /** Where the next call begins, if more may be due. */
  readonly next: Position | undefined
  /** When the next retention ends, if nothing more is due now. */
  readonly nextDueAt: Instant | undefined
  /** The earliest end of a retention among the purged ones; the difference to `at` is the delay. */
  readonly oldestDueAt: Instant | undefined
  readonly at: Instant
}

export function purgeExecutions(tx: Tx, input: PurgeInput): PurgeResult {
  const limit = Math.max(1, PURGE_COUNT_MAX - (input.applied?.length ?? 0))
  const due = tx.range(purgedRange(input, tx.now, limit))
  const purge: Purge = { input, reports: [], isShortOfRoom: false }
  const ids = due.map((entry) => entry.id).filter((id) => input.skip?.includes(id) !== true)
  // Each record is a part of its own, so that a conflict over one does not delay the others.
  for (const id of ids) if (!isFlowId(id) && !purge.isShortOfRoom) tx.part(() => purgeExecution(tx, purge, id))
  for (const id of ids) if (isFlowId(id) && !purge.isShortOfRoom) tx.part(() => purgeFlow(tx, purge, id))
  const reports = inDueOrder(purge.reports, input.applied)
  for (const lane of new Set(reports.flatMap((report) => report.lanes))) removeEmptyQueues(tx, lane)
  const next = nextPosition(due, limit, purge)
  const first =
    next === undefined && input.kept === undefined
      ? tx.range({ index: PURGE_INDEX, from: { score: tx.now + 1 }, limit: 1 })[0]
      : undefined
  return {
    kind: 'purged',
    purged: reports.flatMap((report) => report.executionIds),
    purgedFlows: reports.flatMap((report) => report.flowId ?? []),
    next,
    nextDueAt: first?.score,
    oldestDueAt: reports[0]?.dueAt,
    at: tx.now,
  }
}

function purgedRange({ kept, from }: PurgeInput, now: Instant, limit: number): Range {
  if (kept === undefined) return { index: PURGE_INDEX, from, to: now, limit }
  const { namespace, task, count, to } = kept
  return { index: keptIndex(namespace, task), to, limit: Math.max(1, Math.min(limit, count)) }
}

/** The progress of one purge. */
interface Purge {
  readonly input: PurgeInput
  readonly reports: PurgeReport[]
  isShortOfRoom: boolean
}

function purgeExecution(tx: Tx, purge: Purge, id: string): PurgeReport | undefined {
  const [execution] = tx.getMany('execution', [id])
  if (execution === undefined) return undefined
  const state = execution.state
  if (state.phase !== 'ended') return tx.fault('an execution that has not ended is due to be purged', execution.id)
  if (!matchesFilter(execution, purge.input.filter)) return undefined
  const { removed, dedupeMs = 0 } = execution
  const dueAt = state.at + keptMsOf(execution)
  if (!removeExecution(tx, execution)) {
    purge.isShortOfRoom = true
    return undefined
  }
  // Its removal was reported when its retention was over. Now its id is free too.
  if (removed !== undefined) return addReport(purge, [], undefined, state.at + dedupeMs)
  tx.emit('execution_purged', execution, {})
  return addReport(purge, [execution], undefined, dueAt)
}

function purgeFlow(tx: Tx, purge: Purge, id: string): PurgeReport | undefined {
  const [flow] = tx.getMany('flow', [id])
  if (flow === undefined) return undefined
  if (!isFlowFinished(flow)) return tx.fault('a flow that has not finished is due to be purged', flow.id)
  if (!matchesFilter(flow, purge.input.filter)) return undefined
  const removed: Execution[] = []
  const { removedAt, dedupeMs = 0 } = flow
  const isGone = removeFlow(tx, flow, removed)
  if (!isGone) purge.isShortOfRoom = true
  if (!isGone && removed.length === 0) return undefined
  // Its removal was reported when its retention was over. Now its id is free too.
  if (removedAt !== undefined) return addReport(purge, [], undefined, flow.changedAt + dedupeMs)
  return addReport(purge, removed, isGone ? flow.id : undefined, flow.changedAt + flow.retentionMs)
}

function addReport(
  purge: Purge,
  removed: readonly Execution[],
  flowId: string | undefined,
  dueAt: Instant,
): PurgeReport {
  const lanes = new Set(removed.map((execution) => execution.lane))
  const report = { executionIds: removed.map((execution) => execution.id), flowId, lanes: [...lanes], dueAt }
  purge.reports.push(report)
  return report
}

/** Work without room stays at the head of the next call; a full page is followed by the next. */
function nextPosition(due: readonly IndexEntry[], limit: number, purge: Purge): Position | undefined {
  // The caller counts again.
  if (purge.input.kept !== undefined) return undefined
  if (purge.isShortOfRoom) return purge.input.from ?? { score: 0 }
  const last = due[due.length - 1]
  return due.length < limit || last === undefined ? undefined : { score: last.score, id: last.id }
}
