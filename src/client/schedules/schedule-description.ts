/** Schedules as programs and operators see them. */
import { boundariesAfter } from '../../calendar/boundaries.ts'
import { firingAt } from '../../calendar/firing.ts'
import { isFlowId } from '../../kernel/index.ts'
import type {
  ExecutionId,
  FiringView,
  FlowId,
  Instant,
  MissedPolicy,
  Overlap,
  Schedule,
  SkipReason,
} from '../../kernel/index.ts'
import { tagsToObject } from '../checks/names.ts'
import type { Tags } from '../checks/names.ts'

export interface ScheduleSummary {
  readonly name: string
  readonly namespace: string
  /** Who declared it in code. */
  readonly owner: string | undefined
  /** `completed`: no boundary is left before `until`. */
  readonly state: 'active' | 'paused' | 'completed'
  /** Who paused it, since when, and why. */
  readonly pause: { readonly at: Instant; readonly by: string; readonly reason: string | undefined } | undefined
  /** Whether it starts a task or a flow. */
  readonly starts: 'task' | 'flow'
  /** The name of the task or of the flow. */
  readonly task: string
  /** That of its task. Each node of a flow has its own. */
  readonly lane: string | undefined
  readonly tags: Tags
  readonly cron: string | undefined
  readonly timeZone: string | undefined
  readonly everyMs: number | undefined
  readonly jitterMs: number
  readonly from: Instant | undefined
  readonly until: Instant | undefined
  readonly overlap: Overlap
  readonly missed: MissedPolicy
  /** When it fires next; absent while it is paused, and after its end. */
  readonly nextAt: Instant | undefined
  /** Boundaries that wait for the end of an earlier execution. */
  readonly waitingCount: number
  readonly firedCount: number
  /** The latest execution or flow that it has created. */
  readonly fired: Fired | undefined
  /** The latest boundary that did not fire, and why. */
  readonly skipped: { readonly at: Instant; readonly skippedAt: Instant; readonly reason: SkipReason } | undefined
  readonly createdAt: Instant
  readonly changedAt: Instant
}

export interface Fired {
  readonly at: Instant
  readonly firedAt: Instant
  readonly executionId: ExecutionId | undefined
  readonly flowId: FlowId | undefined
}

/** A boundary to come: the boundary, and when it fires with its jitter. */
export interface NextFiring {
  readonly at: Instant
  readonly fireAt: Instant
}

export interface ScheduleDescription extends ScheduleSummary {
  readonly next: readonly NextFiring[]
  /** The latest executions or flows, oldest first, with their states. */
  readonly latest: readonly FiringView[]
  /** One or two sentences: when it fires next, or why it does not. */
  readonly text: string
}

export function summariseSchedule(schedule: Schedule): ScheduleSummary {
  const { timing, work, pause, planned, fired } = schedule
  const next = [...planned].sort((a, b) => a.fireAt - b.fireAt)[0]
  const state = pause !== undefined ? 'paused' : isOver(schedule) ? 'completed' : 'active'
  return {
    name: schedule.name,
    namespace: schedule.namespace,
    owner: schedule.owner,
    state,
    pause,
    starts: schedule.flow === undefined ? 'task' : 'flow',
    task: work.task,
    lane: schedule.flow === undefined ? work.lane : undefined,
    tags: tagsToObject(work.tags),
    cron: timing.cron,
    timeZone: timing.timeZone,
    everyMs: timing.everyMs,
    jitterMs: timing.jitterMs,
    from: timing.fromAt,
    until: timing.untilAt,
    overlap: schedule.overlap,
    missed: schedule.missed,
    nextAt: state === 'active' ? next?.fireAt : undefined,
    waitingCount: schedule.waiting.length,
    firedCount: schedule.firedCount,
    fired: fired && firedOf(fired),
    skipped: schedule.skipped,
    createdAt: schedule.createdAt,
    changedAt: schedule.changedAt,
  }
}

function firedOf({ at, firedAt, executionId: id }: NonNullable<Schedule['fired']>): Fired {
  const isFlow = isFlowId(id)
  const executionId = isFlow ? undefined : (id as ExecutionId)
  return { at, firedAt, executionId, flowId: isFlow ? (id as FlowId) : undefined }
}

function isOver({ isComplete, planned, waiting }: Schedule): boolean {
  return isComplete && planned.length === 0 && waiting.length === 0
}

export interface Described {
  readonly schedule: Schedule
  readonly latest: readonly FiringView[]
  readonly at: Instant
}

/** `count` is how many firings to come are returned, and `partition` the number of the schedule's partition. */
export function describeSchedule(
  { schedule, latest, at }: Described,
  count: number,
  partition: number,
): ScheduleDescription {
  const summary = summariseSchedule(schedule)
  const next = nextFirings(schedule, at, count, partition)
  return { ...summary, next, latest, text: explain(schedule, summary, latest, next[0]) }
}

/** Those that are planned, and what follows. Of a paused schedule, those after a resume now. */
function nextFirings(schedule: Schedule, now: Instant, count: number, partition: number): NextFiring[] {
  const planned = schedule.planned.filter(({ at }) => schedule.pause === undefined || at > now)
  const last = Math.max(now, ...planned.map(({ at }) => at))
  const further = schedule.isComplete
    ? []
    : boundariesAfter(schedule.timing, last, Math.max(0, count - planned.length)).map((at) =>
        firingAt(schedule, at, partition),
      )
  return [...planned, ...further]
    .sort((a, b) => a.fireAt - b.fireAt)
    .slice(0, count)
    .map(({ at, fireAt }) => ({ at, fireAt }))
}

const skipTexts: Readonly<Record<SkipReason, string>> = {
  missed: 'no engine ran at that time, and missed boundaries are not made up for',
  overlap: 'an earlier execution had not ended',
  queue_full: 'too many boundaries waited for the end of an earlier execution',
  paused: 'the schedule was paused',
  lane_draining: 'the lane is drained and takes no submits',
  lane_disabled: 'the lane is disabled and takes no submits',
  too_many_needs: 'its lane has too many queues with different needs',
  changed: 'the schedule was changed at that time',
}

function explain(
  schedule: Schedule,
  { state }: ScheduleSummary,
  latest: readonly FiringView[],
  next: NextFiring | undefined,
): string {
  const { pause, waiting, skipped, fired } = schedule
  if (pause !== undefined) {
    const reason = pause.reason === undefined ? '' : `: ${pause.reason}`
    return `It does not fire because ${pause.by} paused it at ${instant(pause.at)}${reason}. Resume it to continue.`
  }
  if (state === 'completed') return 'It does not fire any more: no boundary is left before its end.'
  const running = latest.find(({ outcome }) => outcome === undefined)
  if (waiting.length > 0 && running !== undefined) {
    return `Its firing of ${instant(waiting[0]?.at ?? 0)} waits for the end of ${running.flowId === undefined ? `execution ${running.executionId}` : `flow ${running.flowId}`}.`
  }
  const isLaterSkip = skipped !== undefined && (fired === undefined || skipped.skippedAt >= fired.firedAt)
  const past = isLaterSkip ? ` The boundary of ${instant(skipped.at)} did not fire: ${skipTexts[skipped.reason]}.` : ''
  if (next === undefined) return `It has no boundaries yet: a running engine computes them.${past}`
  return `It fires next at ${instant(next.fireAt)}, if an engine runs.${past}`
}

function instant(at: Instant): string {
  return new Date(at).toISOString()
}
