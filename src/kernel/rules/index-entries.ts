/**
 * Derives index membership: which entries a record has. A store applies the difference between the entries before and after a
 * write, and no other code writes an index, so records and indexes agree by construction.
 */
import {
  CANCEL_BACKLOG_INDEX,
  CREATED_INDEX,
  DUE_INDEX,
  FLOWS_INDEX,
  OPEN_EDGES,
  OPEN_WAITPOINTS_INDEX,
  PURGE_INDEX,
  QUEUES_INDEX,
  RESOLVED_EDGES,
  SIBLING_CANCELS_INDEX,
  attemptsIndex,
  inboundIndex,
  bufferedSignalsIndex,
  laneIndex,
  membersIndex,
  outboundIndex,
  readyIndex,
  signalsIndex,
  stepsIndex,
  tagIndex,
  waitpointsIndex,
} from '../model/indexes.ts'
import type { Signal, Step, Waitpoint } from '../model/journal-schema.ts'
import { joinName } from '../model/names.ts'
import type { IndexEntry } from '../model/order.ts'
import { publicState } from '../model/public-state.ts'
import type { AnyRecord, Attempt, Edge, EdgeState, Execution, Flow, Membership, Queue } from '../model/records.ts'
import { claimScore, dueAt, isKeptForParent } from './execution-state.ts'
import { flowDueAt, isFlowFinished } from './flow-state.ts'
import { scopeOf, scopeOfStep, scopeOfWaitpoint, waitpointOfSignal } from './journal-ids.ts'

/** The index in which a worker or a listing finds it. */
function queueEntry(execution: Execution): IndexEntry {
  const state = execution.state
  return state.phase === 'eligible'
    ? { index: readyIndex(execution.lane, execution.class), score: claimScore(execution), id: execution.id }
    : { index: laneIndex(execution.lane, publicState(state)), score: execution.createdAt, id: execution.id }
}

/** The index of its next timer: of its next change, or of its removal after its end. */
function timedEntry(execution: Execution): IndexEntry | undefined {
  const state = execution.state
  const due = dueAt(execution)
  if (due !== undefined) return { index: DUE_INDEX, score: due, id: execution.id }
  // A member is removed with its flow, and the result of a child is kept for its parent.
  if (state.phase === 'ended' && execution.member === undefined && !isKeptForParent(execution)) {
    const keptMs = execution.removed === undefined ? execution.retentionMs : (execution.dedupeMs ?? 0)
    return { index: PURGE_INDEX, score: state.at + keptMs, id: execution.id }
  }
  return undefined
}

function executionEntries(execution: Execution): IndexEntry[] {
  const id = execution.id
  const timed = timedEntry(execution)
  // Only the id is kept: no list shows it.
  if (execution.removed !== undefined) return timed === undefined ? [] : [timed]
  const created = { index: CREATED_INDEX, score: execution.createdAt, id }
  const queued = queueEntry(execution)
  const entries: IndexEntry[] = timed === undefined ? [created, queued] : [created, queued, timed]
  if (execution.member !== undefined) addMemberEntries(execution, execution.member, entries)
  const journal = execution.journal
  if (journal !== undefined && journal.open.length > 0) {
    const scope = scopeOf(id, journal)
    for (const { target, since } of journal.open) {
      entries.push({ index: OPEN_WAITPOINTS_INDEX, score: since, id: joinName(scope, target) })
    }
  }
  for (const tag of execution.tags) {
    if (tag.indexed) entries.push({ index: tagIndex(tag.name, tag.value), score: execution.createdAt, id })
  }
  return entries
}

function addMemberEntries(execution: Execution, member: Membership, entries: IndexEntry[]): void {
  entries.push({ index: membersIndex(member.flowId), score: member.rank, id: execution.id })
  const group = member.group
  if (group?.owedFrom === undefined) return
  entries.push({ index: SIBLING_CANCELS_INDEX, score: group.decidedAt ?? execution.changedAt, id: execution.id })
}

function edgeEntries(edge: Edge): IndexEntry[] {
  const score = edgeScore(edge.state)
  return [
    { index: outboundIndex(edge.upstreamId), score, id: edge.downstreamId },
    { index: inboundIndex(edge.downstreamId), score, id: edge.upstreamId },
  ]
}

function edgeScore(state: EdgeState): number {
  return state === 'open' ? OPEN_EDGES : RESOLVED_EDGES
}

function flowEntries(flow: Flow): IndexEntry[] {
  const id = flow.id
  // Only the id is kept: no list shows it.
  if (flow.removedAt !== undefined) {
    return [{ index: PURGE_INDEX, score: flow.changedAt + (flow.dedupeMs ?? 0), id }]
  }
  const entries: IndexEntry[] = [{ index: FLOWS_INDEX, score: flow.createdAt, id }]
  const due = flowDueAt(flow)
  if (due !== undefined) entries.push({ index: DUE_INDEX, score: due, id })
  else if (isFlowFinished(flow)) entries.push({ index: PURGE_INDEX, score: flow.changedAt + flow.retentionMs, id })
  if (flow.walk?.purpose === 'cancel') entries.push({ index: CANCEL_BACKLOG_INDEX, score: flow.changedAt, id })
  return entries
}

function stepEntries(step: Step): IndexEntry[] {
  return [{ index: stepsIndex(scopeOfStep(step)), score: step.position, id: step.id }]
}

function waitpointEntries(waitpoint: Waitpoint): IndexEntry[] {
  return [{ index: waitpointsIndex(scopeOfWaitpoint(waitpoint.id, waitpoint.target)), score: 0, id: waitpoint.id }]
}

function signalEntries(signal: Signal): IndexEntry[] {
  const waitpointId = waitpointOfSignal(signal)
  const scope = scopeOfWaitpoint(waitpointId, signal.target)
  const accepted = { index: signalsIndex(scope), score: signal.sequence, id: signal.id }
  if (!signal.isWaiting) return [accepted]
  return [accepted, { index: bufferedSignalsIndex(waitpointId), score: signal.sequence, id: signal.id }]
}

function attemptEntries(attempt: Attempt): IndexEntry[] {
  return [{ index: attemptsIndex(attempt.executionId), score: attempt.number, id: attempt.id }]
}

function queueEntries(queue: Queue): IndexEntry[] {
  return [{ index: QUEUES_INDEX, score: 0, id: queue.id }]
}

export function entriesOf(record: AnyRecord): IndexEntry[] {
  switch (record.type) {
    case 'execution':
      return executionEntries(record)
    case 'attempt':
      return attemptEntries(record)
    case 'queue':
      return queueEntries(record)
    case 'flow':
      return flowEntries(record)
    case 'edge':
      return edgeEntries(record)
    case 'step':
      return stepEntries(record)
    case 'waitpoint':
      return waitpointEntries(record)
    case 'signal':
      return signalEntries(record)
  }
}
