/** Keeps a flow's record in step with its members: exact counts, and its own end once all members have ended. */
import { OPEN_EDGES, outboundIndex } from '../model/indexes.ts'
import type { Execution, Flow } from '../model/records.ts'
import type { Tx } from '../tx.ts'
import { enterFlowEnded } from './flow-phases.ts'
import { needsMore } from '../rules/edge-group.ts'
import { bucketOf, liveCount } from '../rules/flow-state.ts'
import type { MemberBucket } from '../rules/flow-state.ts'

/** The flow that an execution is a member of. */
export function flowOf(tx: Tx, execution: Execution): Flow | undefined {
  const member = execution.member
  if (member === undefined) return undefined
  return tx.get('flow', member.flowId) ?? tx.fault('a member names a flow that does not exist', execution.id)
}

/** Takes a member from one count to the one that its state now has. */
export function shiftCount(tx: Tx, flow: Flow, execution: Execution, before: MemberBucket): void {
  const after = bucketOf(execution)
  flow.counts[before] = flow.counts[before] - 1
  flow.counts[after] = flow.counts[after] + 1
  if (flow.counts[before] < 0) tx.fault('a flow counts fewer members than have left a state', flow.id)
  const hasEnded = isEnd(after) ? 1 : 0
  const hadEnded = isEnd(before) ? 1 : 0
  if (hasEnded !== hadEnded && needsMore(execution.member?.group)) {
    flow.shortGroupCount = flow.shortGroupCount + hadEnded - hasEnded
  }
  if (flow.outcomeRule !== 'sinks') return
  const failedBefore = isFailedEnd(before) ? 1 : 0
  const failedAfter = isFailedEnd(after) ? 1 : 0
  if (failedBefore !== failedAfter && isSink(tx, execution)) {
    flow.failedSinkCount = flow.failedSinkCount + failedAfter - failedBefore
  }
}

/** Counts a member that is new to its flow. */
export function countNew(flow: Flow, execution: Execution): void {
  const bucket = bucketOf(execution)
  flow.counts[bucket] = flow.counts[bucket] + 1
  flow.memberCount = flow.memberCount + 1
  if (flow.outcomeRule === 'sinks' && isFailedEnd(bucket)) flow.failedSinkCount = flow.failedSinkCount + 1
}

/** A member of a flow has changed its state: its flow is counted anew and written. */
export function countChange(tx: Tx, execution: Execution, before: MemberBucket): void {
  const flow = flowOf(tx, execution)
  if (flow === undefined) return
  shiftCount(tx, flow, execution, before)
  putFlow(tx, flow)
}

/** The one way a flow is written: a sealed one whose members have all ended ends with them. */
export function putFlow(tx: Tx, flow: Flow): void {
  flow.changedAt = tx.now
  flow.version = flow.version + 1
  if (flow.state.phase === 'sealed' && flow.walk === undefined && liveCount(flow.counts) === 0) {
    enterFlowEnded(tx, flow)
  }
  tx.put(flow)
}

export function isSink(tx: Tx, execution: Execution): boolean {
  return tx.countUpTo({ index: outboundIndex(execution.id), from: { score: OPEN_EDGES }, limit: 1 }) === 0
}

function isEnd(bucket: MemberBucket): boolean {
  return bucket === 'completed' || isFailedEnd(bucket)
}

export function isFailedEnd(bucket: MemberBucket): boolean {
  switch (bucket) {
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
