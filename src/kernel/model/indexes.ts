/**
 * Index membership, derived: these functions say which entries a record has, and a store applies the difference between
 * before and after a write. Nothing else writes an index, so records and indexes agree by construction.
 */
import { flowDueAt, isFlowSettled } from '../rules/flow-state.ts'
import { scopeOf, scopeOfStep, scopeOfWaitpoint, waitpointOfSignal } from '../rules/journal-ids.ts'
import type { Signal, Step, Waitpoint } from './journal-records.ts'
import type { AnyRecord, Attempt, Edge, EdgeState, Execution, Flow, Membership, Queue } from './records.ts'
import { claimScore, dueAt, publicState } from '../rules/execution-state.ts'
import type { PublicState } from '../rules/execution-state.ts'
import { SEPARATOR, joinName } from './names.ts'
import type { IndexEntry } from '../tx.ts'

/** All executions of the partition, by creation. */
export const CREATED_INDEX = 'created'
/** Everything that time alone will change, by its earliest timer. */
export const DUE_INDEX = 'due'
/** Ended executions, by the end of their retention. Apart from `due`, so that a backlog of purges delays no lease. */
export const PURGE_INDEX = 'purge'
/** Every queue that was ever submitted to and still has a record. */
export const QUEUES_INDEX = 'queues'

/** All flows of the partition, by creation. */
export const FLOWS_INDEX = 'flows'
/** Members whose decided group still owes cancels to those that lost, by the decision. */
export const SIBLING_CANCELS_INDEX = 'sibling_cancels'
/** Cancelled flows with members that still have to be cancelled, by the cancel. */
export const CANCEL_BACKLOG_INDEX = 'cancel_backlog'

/** Open waitpoints of all executions of the partition, by when they were opened. Mailboxes are not among them. */
export const OPEN_WAITPOINTS_INDEX = 'open_waitpoints'

const READY_PREFIX = 'ready' + SEPARATOR

/** Eligible executions of one lane and class, in the order in which they are claimed. */
export function readyIndex(lane: string, className: string): string {
  return READY_PREFIX + joinName(lane, className)
}

/** The lane and class of a ready index, or undefined for any other name. A store's wake-ups carry it. */
export function isReadyIndex(index: string): boolean {
  return index.substring(0, READY_PREFIX.length) === READY_PREFIX
}

/** Executions of one lane in one public state, by creation; those that a worker may take stand in a ready index instead. */
export function laneIndex(lane: string, state: PublicState): string {
  return 'lane' + SEPARATOR + joinName(lane, state)
}

export function tagIndex(name: string, value: string): string {
  return 'tag' + SEPARATOR + joinName(name, value)
}

/** The recorded attempts of one execution, by number. */
export function attemptsIndex(executionId: string): string {
  return joinName('attempts', executionId)
}

/** The members of one flow, by rank: those that an edge leads from come before those that it leads to. */
export function membersIndex(flowId: string): string {
  return joinName('members', flowId)
}

/** Where edges stand that still wait for their upstream … */
export const OPEN_EDGES = 0
/** … and those that have been resolved. */
export const RESOLVED_EDGES = 1

export const OUTBOUND_PREFIX = 'out' + SEPARATOR
export const INBOUND_PREFIX = 'in' + SEPARATOR

/** The downstream members of one member: first those whose edge is open, then the others. */
export function outboundIndex(executionId: string): string {
  return OUTBOUND_PREFIX + executionId
}

/** The upstream members of one member, in the same order. */
export function inboundIndex(executionId: string): string {
  return INBOUND_PREFIX + executionId
}

export function edgeId(upstreamId: string, downstreamId: string): string {
  return joinName(upstreamId, downstreamId)
}

/** The steps of one life of an execution, by position. `scope` is what `scopeOf` says. */
export function stepsIndex(scope: string): string {
  return joinName('steps', scope)
}

/** The waitpoints of one life of an execution, mailboxes included. */
export function waitpointsIndex(scope: string): string {
  return joinName('waitpoints', scope)
}

/** The signals that one life of an execution has accepted, by their number. */
export function signalsIndex(scope: string): string {
  return joinName('signals', scope)
}

/** The signals that are kept at one waitpoint for a wait that is still to come, by their number. */
export function inboxIndex(waitpointId: string): string {
  return joinName('inbox', waitpointId)
}

export function queueId(lane: string, className: string): string {
  return joinName(lane, className)
}

/** Where a worker or a listing finds it. */
function queueEntry(execution: Execution): IndexEntry {
  const state = execution.state
  return state.phase === 'eligible'
    ? { index: readyIndex(execution.lane, execution.class), score: claimScore(execution), id: execution.id }
    : { index: laneIndex(execution.lane, publicState(state)), score: execution.createdAt, id: execution.id }
}

/** Where time finds it: to change it as long as it lives, to remove it afterwards. */
function timedEntry(execution: Execution): IndexEntry | undefined {
  const state = execution.state
  const due = dueAt(execution)
  if (due !== undefined) return { index: DUE_INDEX, score: due, id: execution.id }
  // A member stays as long as its flow, which looks after its removal.
  if (state.phase === 'ended' && execution.member === undefined) {
    return { index: PURGE_INDEX, score: state.at + execution.retentionMs, id: execution.id }
  }
  return undefined
}

function executionEntries(execution: Execution): IndexEntry[] {
  const id = execution.id
  const created = { index: CREATED_INDEX, score: execution.createdAt, id }
  const queued = queueEntry(execution)
  const timed = timedEntry(execution)
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
  const entries: IndexEntry[] = [{ index: FLOWS_INDEX, score: flow.createdAt, id }]
  const due = flowDueAt(flow)
  if (due !== undefined) entries.push({ index: DUE_INDEX, score: due, id })
  else if (isFlowSettled(flow)) entries.push({ index: PURGE_INDEX, score: flow.changedAt + flow.retentionMs, id })
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
  return [accepted, { index: inboxIndex(waitpointId), score: signal.sequence, id: signal.id }]
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
