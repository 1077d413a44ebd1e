/** Lists schedules, reads some of them to plan their boundaries, and describes one with its latest firings. */
import { SCHEDULE_PAGE_MAX, SCHEDULE_READ_MAX } from '../../limits.ts'
import { SCHEDULES_INDEX } from '../../model/indexes.ts'
import { readFired } from '../../lifecycle/schedules/overlap.ts'
import type { Fired } from '../../lifecycle/schedules/overlap.ts'
import type { ExecutionId, FlowId, Instant, Outcome, Schedule } from '../../model/records.ts'
import { publicState } from '../../model/public-state.ts'
import type { PublicState } from '../../model/public-state.ts'
import { isFlowFinished, publicFlowState } from '../../rules/flow-state.ts'
import type { PublicFlowState } from '../../rules/flow-state.ts'
import { lacksBoundaries } from '../../rules/schedule-state.ts'
import { refused } from '../../results.ts'
import type { Refused } from '../../results.ts'
import type { Range, Tx } from '../../tx.ts'

export interface ListSchedulesInput {
  readonly namespace?: string | undefined
  /** Only schedules that this owner has declared. */
  readonly owner?: string | undefined
  /** The id after which the page begins. */
  readonly cursor?: string | undefined
  readonly limit: number
}

export interface ListSchedulesResult {
  readonly kind: 'schedules_listed'
  /** By namespace and name. */
  readonly schedules: Schedule[]
  readonly cursor: string | undefined
  readonly at: Instant
}

export function listSchedules(tx: Tx, input: ListSchedulesInput): ListSchedulesResult {
  const range = listSchedulesRange(input)
  const page = tx.scan(range, 'schedule')
  const last = page[page.length - 1]
  const schedules = page.filter(
    ({ namespace, owner }) =>
      (input.namespace === undefined || namespace === input.namespace) &&
      (input.owner === undefined || owner === input.owner),
  )
  return { kind: 'schedules_listed', schedules, cursor: page.length < range.limit ? undefined : last?.id, at: tx.now }
}

export function listSchedulesRange({ cursor, limit }: ListSchedulesInput): Range {
  const from = cursor === undefined ? undefined : { score: 0, id: cursor }
  return { index: SCHEDULES_INDEX, from, limit: Math.max(1, Math.min(limit, SCHEDULE_PAGE_MAX)) }
}

export interface ReadUnplannedInput {
  readonly scheduleIds: readonly string[]
}

export interface ReadUnplannedResult {
  readonly kind: 'unplanned_read'
  /** Those that lack boundaries. */
  readonly schedules: Schedule[]
  readonly at: Instant
}

export function readUnplanned(tx: Tx, { scheduleIds }: ReadUnplannedInput): ReadUnplannedResult {
  const found = tx.getMany('schedule', scheduleIds.slice(0, SCHEDULE_READ_MAX))
  return { kind: 'unplanned_read', schedules: found.filter(lacksBoundaries), at: tx.now }
}

export interface DescribeScheduleInput {
  readonly scheduleId: string
}

/** One firing, as far as its execution or its flow still exists. */
export type FiringView = ExecutionFiring | FlowFiring

export interface ExecutionFiring {
  readonly executionId: ExecutionId
  readonly flowId?: undefined
  readonly at: Instant
  readonly state: PublicState
  readonly outcome: Outcome | undefined
}

export interface FlowFiring {
  readonly executionId?: undefined
  readonly flowId: FlowId
  readonly at: Instant
  readonly state: PublicFlowState
  /** Absent until nothing in the flow changes any more. */
  readonly outcome: 'completed' | 'failed' | 'cancelled' | undefined
}

export type DescribeScheduleResult =
  | {
      readonly kind: 'schedule_described'
      readonly schedule: Schedule
      /** The latest firings, oldest first. */
      readonly latest: FiringView[]
      readonly at: Instant
    }
  | Refused<'schedule_not_found'>

export function describeSchedule(tx: Tx, { scheduleId }: DescribeScheduleInput): DescribeScheduleResult {
  const schedule = tx.get('schedule', scheduleId)
  if (schedule === undefined) return refused('schedule_not_found', {})
  const ids = [...schedule.open]
  const last = schedule.fired?.executionId
  if (last !== undefined && !ids.includes(last)) ids.push(last)
  const latest = readFired(tx, ids).map(firingView)
  return { kind: 'schedule_described', schedule, latest, at: tx.now }
}

function firingView(fired: Fired): FiringView {
  const at = fired.schedule?.at ?? fired.createdAt
  if (fired.type === 'flow') {
    const state = publicFlowState(fired)
    return { flowId: fired.id, at, state, outcome: isFlowFinished(fired) ? flowOutcomeOf(state) : undefined }
  }
  const { id, state } = fired
  return {
    executionId: id,
    at,
    state: publicState(state),
    outcome: state.phase === 'ended' ? state.outcome : undefined,
  }
}

function flowOutcomeOf(state: PublicFlowState): FlowFiring['outcome'] {
  return state === 'failed' || state === 'cancelled' ? state : 'completed'
}
