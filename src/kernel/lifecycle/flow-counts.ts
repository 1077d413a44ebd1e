/** Keeps the counts of a flow exact, and ends a sealed flow with its last member. */
import { OPEN_EDGES, outboundIndex } from '../model/indexes.ts'
import type { Execution, Flow } from '../model/records.ts'
import type { Tx } from '../tx.ts'
import { enterFlowEnded } from './flow-phases.ts'
import { wakeSchedule } from './wake-schedule.ts'
import { needsMore } from '../rules/edge-group.ts'
import { bucketIn, isFailure, isFlowFinished, liveCount, newWalk, standingOf } from '../rules/flow-state.ts'
import type { Standing } from '../rules/flow-state.ts'

/** Returns the flow of a member, and undefined for other executions. */
export function flowOf(tx: Tx, execution: Execution): Flow | undefined {
  const member = execution.member
  if (member === undefined) return undefined
  return tx.get('flow', member.flowId) ?? tx.fault('a member names a flow that does not exist', execution.id)
}

/** Moves a member from one count of its flow to another, after its state has changed. */
export function shiftCount(tx: Tx, flow: Flow, execution: Execution, before: Standing): void {
  const after = standingOf(execution)
  const [left, entered] = [bucketIn(before), bucketIn(after)]
  flow.counts[left] = flow.counts[left] - 1
  flow.counts[entered] = flow.counts[entered] + 1
  if (flow.counts[left] < 0) tx.fault('a flow has a negative member count', flow.id)
  const hasEnded = isEnd(after) ? 1 : 0
  const hadEnded = isEnd(before) ? 1 : 0
  if (hasEnded !== hadEnded && needsMore(execution.member?.group)) {
    flow.shortGroupCount = flow.shortGroupCount + hadEnded - hasEnded
  }
  if (execution.member?.mayFail === true) countIgnored(flow, Number(isFailure(after)) - Number(isFailure(before)))
  if (flow.outcomeRule !== 'sinks') return
  const failedBefore = isFailedEnd(before) ? 1 : 0
  const failedAfter = isFailedEnd(after) ? 1 : 0
  if (failedBefore !== failedAfter && isSink(tx, execution)) {
    flow.failedSinkCount = flow.failedSinkCount + failedAfter - failedBefore
  }
}

/** Changes the count of failures that an edge ignores. */
export function countIgnored(flow: Flow, change: number): void {
  if (change !== 0) flow.ignoredCount = (flow.ignoredCount ?? 0) + change
}

/** Counts a new member. */
export function countNew(flow: Flow, execution: Execution): void {
  const standing = standingOf(execution)
  const bucket = bucketIn(standing)
  flow.counts[bucket] = flow.counts[bucket] + 1
  flow.memberCount = flow.memberCount + 1
  if (flow.outcomeRule === 'sinks' && isFailedEnd(standing)) flow.failedSinkCount = flow.failedSinkCount + 1
}

/** Counts a changed member in its flow, and puts the flow. */
export function countChange(tx: Tx, execution: Execution, before: Standing): void {
  const flow = flowOf(tx, execution)
  if (flow === undefined) return
  shiftCount(tx, flow, execution, before)
  putFlow(tx, flow)
}

/**
 * Puts a flow. The only way a flow is written: it also ends a sealed flow whose members have all ended, wakes the schedule that
 * waits for the end, and makes a finished flow give way to its follow-up.
 */
export function putFlow(tx: Tx, flow: Flow): void {
  flow.changedAt = tx.now
  flow.version = flow.version + 1
  if (flow.state.phase === 'sealed' && flow.walk === undefined && liveCount(flow.counts) === 0) {
    enterFlowEnded(tx, flow)
  }
  if (flow.awaitedBy !== undefined && isFlowFinished(flow)) wakeSchedule(tx, flow, flow.awaitedBy)
  if (flow.followUp !== undefined && flow.walk === undefined && isFlowFinished(flow)) flow.walk = newWalk('remove')
  tx.put(flow)
}

export function isSink(tx: Tx, execution: Execution): boolean {
  return tx.countUpTo({ index: outboundIndex(execution.id), from: { score: OPEN_EDGES }, limit: 1 }) === 0
}

function isEnd(standing: Standing): boolean {
  return standing === 'completed' || standing === 'excused' || isFailedEnd(standing)
}

/** Whether a member ended in a way that makes a flow fail if it is a sink. */
export function isFailedEnd(standing: Standing): boolean {
  switch (standing) {
    case 'failed':
    case 'cancelled':
    case 'expired':
    case 'skipped':
    case 'superseded':
      return true
    default:
      return false
  }
}
