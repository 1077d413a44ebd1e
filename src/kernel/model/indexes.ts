/** The names of the indexes. An index is an ordered set of ids; `rules/index-entries.ts` derives its members from records. */
import type { PublicState } from './public-state.ts'
import { SEPARATOR, joinName } from './names.ts'

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

/** Members whose decided group has pending cancels of losers, by the decision. */
export const SIBLING_CANCELS_INDEX = 'sibling_cancels'

/** Cancelled flows whose members are not all cancelled yet, by the cancel. */
export const CANCEL_BACKLOG_INDEX = 'cancel_backlog'

/** Open waitpoints of all executions of the partition, by the time of their opening. Without mailboxes. */
export const OPEN_WAITPOINTS_INDEX = 'open_waitpoints'

const READY_PREFIX = 'ready' + SEPARATOR

/** Eligible executions of one lane and class, in the order in which they are claimed. */
export function readyIndex(lane: string, className: string): string {
  return READY_PREFIX + joinName(lane, className)
}

/** Returns the lane and class of a ready index, or undefined for any other name. Wake-ups of a store carry it. */
export function isReadyIndex(index: string): boolean {
  return index.substring(0, READY_PREFIX.length) === READY_PREFIX
}

/** Executions of one lane in one public state, by creation. Claimable executions are in a ready index instead. */
export function laneIndex(lane: string, state: PublicState): string {
  return 'lane' + SEPARATOR + joinName(lane, storedWord(state))
}

/** The word for a state in stored names, which never change. */
function storedWord(state: PublicState): string {
  return state === 'waiting_dependencies' ? 'waiting_children' : state
}

export function tagIndex(name: string, value: string): string {
  return 'tag' + SEPARATOR + joinName(name, value)
}

/** The recorded attempts of one execution, by number. */
export function attemptsIndex(executionId: string): string {
  return joinName('attempts', executionId)
}

/** The members of one flow, by rank: upstreams come before their downstreams. */
export function membersIndex(flowId: string): string {
  return joinName('members', flowId)
}

/** The score of edges that wait for their upstream. */
export const OPEN_EDGES = 0

/** The score of resolved edges. */
export const RESOLVED_EDGES = 1

export const OUTBOUND_PREFIX = 'out' + SEPARATOR

export const INBOUND_PREFIX = 'in' + SEPARATOR

/** The downstreams of one member: open edges first, then resolved ones. */
export function outboundIndex(executionId: string): string {
  return OUTBOUND_PREFIX + executionId
}

/** The upstreams of one member, in the same order. */
export function inboundIndex(executionId: string): string {
  return INBOUND_PREFIX + executionId
}

export function edgeId(upstreamId: string, downstreamId: string): string {
  return joinName(upstreamId, downstreamId)
}

/** The steps of one life of an execution, by position. `scopeOf` returns the scope. */
export function stepsIndex(scope: string): string {
  return joinName('steps', scope)
}

/** The waitpoints of one life of an execution, mailboxes included. */
export function waitpointsIndex(scope: string): string {
  return joinName('waitpoints', scope)
}

/** The signals that one life of an execution has accepted, by number. */
export function signalsIndex(scope: string): string {
  return joinName('signals', scope)
}

/** The signals that are buffered at one waitpoint for a later wait, by number. */
export function bufferedSignalsIndex(waitpointId: string): string {
  return joinName('inbox', waitpointId)
}

export function queueId(lane: string, className: string): string {
  return joinName(lane, className)
}
