/** The names of the indexes. An index is an ordered set of ids; `rules/index-entries.ts` derives its members from records. */
import type { PublicState } from './public-state.ts'
import { SEPARATOR, joinName, keptNames, nameStart } from './names.ts'
import type { RecordType, ShapingKind } from './records.ts'

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

/**
 * The first character of an index whose entries are names instead of ids of executions and flows. Only `queues`, which is
 * older, has none.
 */
const NAME_MARK = '@'

/** All worker registrations, by their instance ids. */
export const WORKERS_INDEX = '@workers'

/** Lost and dead workers whose leases are not revoked yet, by the time of their loss. */
export const UNSWEPT_WORKERS_INDEX = '@unswept_workers'

/** The shares of all keys that take turns, those of one lane together. */
export const SHARES_INDEX = '@shares'

/** All queues that are divided between keys, by priority. */
export const ROTATIONS_INDEX = '@rotations'

/** The settings of all lanes that were ever configured. */
export const LANES_INDEX = '@lanes'

/** Lanes whose settings may not be copied to all partitions yet. */
export const COPYING_LANES_INDEX = '@copying_lanes'

/** All limits of the partition by name, deleted ones included. */
export const LIMITS_INDEX = '@limits'

/** All gates of the partition. */
export const GATES_INDEX = '@gates'

/** All keys of limits that are in use. */
export const GAUGES_INDEX = '@gauges'

/** The permits of all worker processes. */
export const HOLDINGS_INDEX = '@holdings'

/** The record of the duties of engines. */
export const DUTIES_INDEX = '@duties'

/** All schedules of the partition, by namespace and name. */
export const SCHEDULES_INDEX = '@schedules'

/** Every consumer of the event log. */
export const CONSUMERS_INDEX = '@consumers'

/** All budgets of the partition, by root and name. */
export const BUDGETS_INDEX = '@budgets'

/** All accounts of budgets, by budget and key. */
export const ACCOUNTS_INDEX = '@accounts'

/** All reservations. */
export const RESERVATIONS_INDEX = '@reservations'

/** All lines of the ledgers of the partition. */
export const CHARGES_INDEX = '@charges'

/** The sums of all periods that have ended. */
export const PAST_PERIODS_INDEX = '@past_periods'

/** The audit trail, in its order. */
export const AUDIT_INDEX = '@audit'

/** The keys by which submits are shaped. */
export const SHAPING_KEYS_INDEX = '@shaping_keys'

const TIMERS_PREFIX = '@due' + SEPARATOR

/** The records of one type that time alone will change, by their timer. Executions and flows are in `due` instead. */
export function timersIndex(type: RecordType): string {
  return TIMERS_PREFIX + type
}

/** Whether an index orders records by their next timer. */
export function isTimersIndex(index: string): boolean {
  return index === DUE_INDEX || index.startsWith(TIMERS_PREFIX)
}

/** Whether the entries of an index are names, which may look like anything. */
export function isNameIndex(index: string): boolean {
  return index === QUEUES_INDEX || index.startsWith(NAME_MARK)
}

const READY_PREFIX = 'ready' + SEPARATOR

/** Eligible executions of one lane and class, in the order in which they are claimed. */
export const readyIndex = keptNames((lane, className) => READY_PREFIX + joinName(lane, className))

/** Whether a name is that of a ready index. Wake-ups of a store carry it. */
export function isReadyIndex(index: string): boolean {
  return index.startsWith(READY_PREFIX)
}

/** Returns the lane and class of a ready index. */
export function queueOfIndex(index: string): { readonly lane: string; readonly class: string } {
  const name = index.substring(READY_PREFIX.length)
  const lane = nameStart(name)
  return { lane, class: name.substring(lane.length + SEPARATOR.length) }
}

/** Executions of one lane in one public state, by creation. Claimable executions are in a ready index instead. */
export const laneIndex = keptNames<PublicState>((lane, state) => 'lane' + SEPARATOR + joinName(lane, storedWord(state)))

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

/** What turns are counted in: executions of one queue with one priority. Others are served in another order. */
export function turnScope(lane: string, className: string, priority: number): string {
  return joinName(queueId(lane, className), String(priority))
}

export function shareId(scope: string, key: string): string {
  return joinName(scope, key)
}

/** The id of a schedule. */
export function scheduleId(namespace: string, name: string): string {
  return joinName(namespace, name)
}

/** The id of a consumer. */
export function consumerId(namespace: string, name: string): string {
  return joinName(namespace, name)
}

/** The id of a webhook, among those of consumers. */
export function webhookId(namespace: string, name: string): string {
  return joinName(joinName(namespace, name), 'webhook')
}

/** The executions that a schedule has created, by creation. */
export function firingsIndex(schedule: string): string {
  return joinName('firings', schedule)
}

/** The ended executions of a task that keeps up to a number of them, by their end. */
export function keptIndex(namespace: string, task: string): string {
  return joinName('kept', joinName(namespace, task))
}

/** The flows that a schedule has created, by creation. */
export function flowFiringsIndex(schedule: string): string {
  return joinName('flow_firings', schedule)
}

/** The id of a shaping key. The executions of an order may be of several tasks. */
export function shapingKeyId(namespace: string, kind: ShapingKind, task: string, key: string): string {
  return [namespace, kind, kind === 'order' ? '' : task, key].join(SEPARATOR)
}

/** The executions that wait for earlier ones of their shaping key, by place. */
export function lineIndex(shapingKey: string): string {
  return joinName('line', shapingKey)
}

export function queueId(lane: string, className: string): string {
  return joinName(lane, className)
}

/** The keys of one limit that are in use, the busiest first. */
export function keysIndex(limit: string): string {
  return joinName('@keys', limit)
}

/** The executions that a gate blocks, in the order in which they are claimed. */
export function gatedIndex(gateId: string): string {
  return joinName('gated', gateId)
}

/** The worker processes that hold permits of one key. */
export function holdersIndex(gaugeId: string): string {
  return joinName('@holders', gaugeId)
}

export function gaugeId(limit: string, key: string): string {
  return joinName(limit, key)
}

export function gateId(limit: string, key: string): string {
  return joinName(limit, key)
}

export function holdingId(limit: string, key: string, workerInstanceId: string): string {
  return joinName(gaugeId(limit, key), workerInstanceId)
}

/** The accounts of one budget, by key. */
export function accountsIndex(budget: string): string {
  return joinName('@accounts_of', budget)
}

/** The accounts of one budget with delayed executions that wait for room, by key. */
export function parkedIndex(budget: string): string {
  return joinName('@parked_of', budget)
}

/** The ledger of one account, by time. */
export function ledgerIndex(account: string): string {
  return joinName('@ledger', account)
}

/** The charges of one execution in this partition, by time. */
export function chargesIndex(executionId: string): string {
  return joinName('@charges_of', executionId)
}

/** The reservations of one account. */
export function reservedIndex(account: string): string {
  return joinName('@reserved', account)
}

/** The reservations of one execution in this partition. */
export function reservationsIndex(executionId: string): string {
  return joinName('@reservations_of', executionId)
}

/** The periods of one account that have ended, by their beginning. */
export function periodsIndex(account: string): string {
  return joinName('@periods', account)
}
