/** Creates a schedule or changes it. Idempotent: an equal definition changes nothing. */
import { FOLLOW_UP_EDGE_MAX, FOLLOW_UP_NODE_MAX, SCHEDULE_FIRE_MAX, SCHEDULE_PLAN_RETRY_MS } from '../../limits.ts'
import { refuseBadGraph } from '../../lifecycle/flows/flow-follow-up.ts'
import type { FlowInput } from '../../lifecycle/flows/new-flow.ts'
import type { GraphRefusal } from '../../lifecycle/flows/new-graph.ts'
import { pendingGraphOf } from '../../lifecycle/flows/pending-graph.ts'
import type { GraphPart } from '../../lifecycle/flows/pending-graph.ts'
import { blobInfo } from '../../lifecycle/new-execution.ts'
import { workSettings } from '../../lifecycle/schedules/create-firing.ts'
import type { WorkSettings } from '../../lifecycle/schedules/create-firing.ts'
import { askForBoundaries, runDueBoundaries, skip } from '../../lifecycle/schedules/run-schedule.ts'
import { forgetInputs, keepInputs } from '../../lifecycle/schedules/schedule-inputs.ts'
import { emitScheduleChanged } from '../../lifecycle/schedules/schedule-events.ts'
import { SEPARATOR } from '../../model/names.ts'
import type { Instant, Schedule } from '../../model/records.ts'
import type { MissedPolicy, Overlap, ScheduledFlow, ScheduleTiming } from '../../model/schedule-schema.ts'
import { refused } from '../../results.ts'
import type { Refused } from '../../results.ts'
import type { BlobInput, Tx } from '../../tx.ts'

export interface ConfigureScheduleInput {
  readonly scheduleId: string
  readonly namespace: string
  readonly name: string
  /** Who declares it in code. A schedule of another owner is refused. Absent: the owner stays as it is. */
  readonly owner?: string | undefined
  readonly digest: string
  /** Covers the names of the nodes too, if it starts a flow: the ids of planned members follow from them. */
  readonly timingDigest: string
  readonly timing: ScheduleTiming
  readonly work: WorkSettings & { readonly payload?: BlobInput | undefined }
  /** What it starts instead of an execution. `work` then has the name of the flow. */
  readonly flow?: ScheduledFlowInput | undefined
  readonly overlap: Overlap
  readonly missed: MissedPolicy
  readonly by?: string | undefined
}

/** A flow as for a submit, with ids of members that only tell the nodes apart. */
export interface ScheduledFlowInput extends FlowInput, GraphPart {
  readonly input?: BlobInput | undefined
}

export type ConfigureScheduleResult =
  | {
      readonly kind: 'schedule_created' | 'schedule_changed' | 'schedule_unchanged'
      readonly schedule: Schedule
      readonly at: Instant
    }
  | Refused<'schedule_owned'>
  | GraphRefusal

export function configureSchedule(tx: Tx, input: ConfigureScheduleInput): ConfigureScheduleResult {
  const existing = tx.get('schedule', input.scheduleId)
  if (existing === undefined) return refuseFlow(tx, input) ?? create(tx, input)
  const { owner = existing.owner } = input
  if (existing.owner !== undefined && owner !== existing.owner)
    return refused('schedule_owned', { name: existing.owner })
  if (existing.digest === input.digest && existing.owner === owner) {
    return { kind: 'schedule_unchanged', schedule: existing, at: tx.now }
  }
  return refuseFlow(tx, input) ?? change(tx, existing, { ...input, owner })
}

/** Refuses a flow that no boundary could start, or that is too large for the record of a schedule. */
function refuseFlow(tx: Tx, { flow }: ConfigureScheduleInput): GraphRefusal | undefined {
  if (flow === undefined) return undefined
  if (flow.nodes.length > FOLLOW_UP_NODE_MAX) return refused('graph_limit_exceeded', { limit: FOLLOW_UP_NODE_MAX })
  if (flow.edges.length > FOLLOW_UP_EDGE_MAX) return refused('graph_limit_exceeded', { limit: FOLLOW_UP_EDGE_MAX })
  return refuseBadGraph(tx, flow, flow, () => false)
}

function create(tx: Tx, input: ConfigureScheduleInput): ConfigureScheduleResult {
  const schedule: Schedule = {
    type: 'schedule',
    id: input.scheduleId,
    namespace: input.namespace,
    name: input.name,
    ...definitionOf(input),
    revision: 1,
    pause: undefined,
    planned: [],
    plannedUntil: tx.now,
    plannedAt: tx.now,
    isComplete: false,
    // The process that creates it plans its boundaries at once. The engine does if that process ends before.
    planAt: tx.now + SCHEDULE_PLAN_RETRY_MS,
    isStalled: false,
    waiting: [],
    wakeAt: undefined,
    open: [],
    fired: undefined,
    firedCount: 0,
    skipped: undefined,
    createdAt: tx.now,
    changedAt: tx.now,
  }
  keepInput(tx, schedule, input)
  tx.put(schedule)
  emitScheduleChanged(tx, schedule, { effect: 'created', by: input.by })
  return { kind: 'schedule_created', schedule, at: tx.now }
}

/**
 * A boundary that has come fires by the earlier definition, with any jitter still to wait. Boundaries of another timing begin after
 * now. What waits for the end of an earlier firing keeps waiting, and runs with the new input.
 */
function change(tx: Tx, schedule: Schedule, input: ConfigureScheduleInput): ConfigureScheduleResult {
  if (schedule.pause === undefined) runDueBoundaries(tx, schedule, SCHEDULE_FIRE_MAX)
  forgetInputs(tx, schedule)
  const isOtherTiming = schedule.timingDigest !== input.timingDigest
  const isOtherGraph = membersOf(schedule.flow) !== membersOf(input.flow)
  Object.assign(schedule, definitionOf(input))
  schedule.revision = schedule.revision + 1
  schedule.changedAt = tx.now
  keepInput(tx, schedule, input)
  if (isOtherTiming) forgetPlan(tx, schedule, 'changed')
  if (isOtherGraph) dropIds(tx, schedule)
  askForBoundaries(tx, schedule)
  tx.put(schedule)
  emitScheduleChanged(tx, schedule, { effect: 'changed', by: input.by })
  return { kind: 'schedule_changed', schedule, at: tx.now }
}

/** The names of the nodes, from which the ids of members follow. */
function membersOf(flow: GraphNames | undefined): string | undefined {
  return flow === undefined ? undefined : flow.nodes.map(({ name }) => name).join(SEPARATOR)
}

interface GraphNames {
  readonly nodes: readonly { readonly name: string }[]
}

/** Skips boundaries that have come and have not fired: their ids are those of another graph, or of a task. */
function dropIds(tx: Tx, schedule: Schedule): void {
  for (const firing of [...schedule.waiting, ...schedule.planned]) skip(tx, schedule, firing, 'changed')
  schedule.waiting = []
  schedule.wakeAt = undefined
  schedule.planned = []
}

/** Plans anew from now on. A boundary that has come and has only its jitter to wait still fires. */
export function forgetPlan(tx: Tx, schedule: Schedule, reason: 'changed' | 'paused'): void {
  const kept = schedule.planned.filter(({ at, fireAt }) => reason === 'changed' && at <= tx.now && fireAt > tx.now)
  const passed = schedule.planned.filter((firing) => firing.fireAt <= tx.now)
  const latest = passed[passed.length - 1]
  if (latest !== undefined) skip(tx, schedule, latest, reason)
  schedule.planned = kept
  // The clock may have gone back since the latest firing.
  schedule.plannedUntil = Math.max(tx.now, schedule.fired?.at ?? 0, kept[kept.length - 1]?.at ?? 0)
  schedule.isComplete = false
  schedule.isStalled = false
  schedule.planAt = tx.now + SCHEDULE_PLAN_RETRY_MS
}

function definitionOf(input: ConfigureScheduleInput) {
  const { owner, digest, timingDigest, timing, work, overlap, missed, flow } = input
  const stored = { ...workSettings(work), tags: [...work.tags], payload: blobInfo(work.payload) }
  return { owner, digest, timingDigest, timing, work: stored, overlap, missed, flow: flow && storedFlow(flow) }
}

function storedFlow(flow: ScheduledFlowInput): ScheduledFlow {
  const { name, tags, outcomeRule, retentionMs, input } = flow
  return { name, tags: [...tags], outcomeRule, retentionMs, input: blobInfo(input), ...pendingGraphOf(flow) }
}

function keepInput(tx: Tx, schedule: Schedule, { work, flow }: ConfigureScheduleInput): void {
  keepInputs(tx, schedule, {
    input: flow === undefined ? work.payload : flow.input,
    nodes: flow?.nodes.map(({ create }) => create.payload) ?? [],
  })
}
