/** Defines schedules: a task or a flow and its input, when it runs, and what happens if runs overlap or are missed. */
import { shape, oneOf, required, unchecked } from '../../options/shape.ts'
import { INSTANT_MAX, SCHEDULE_JITTER_MAX_MS, SCHEDULE_PERIOD_MIN_MS } from '../../kernel/limits.ts'
import type { MissedPolicy, Overlap } from '../../kernel/model/schedule-schema.ts'
import { checkObject, checkTaskName, invalidInput, show } from '../checks/names.ts'
import type { Tags } from '../checks/names.ts'
import { flowSettings, isFlow } from './flow.ts'
import type { AnyFlow, FlowDefinition, FlowSettings } from './flow.ts'
import { parseDuration } from './duration.ts'
import type { Duration } from './duration.ts'
import { taskSettings } from './task-settings.ts'
import type { TaskSettings } from './task-settings.ts'
import { checkTask } from './task.ts'
import type { AnyTask, Task } from './task.ts'

/** When a schedule fires, and what happens if firings overlap or are missed. */
export interface FiringTimes {
  /** A cron expression of five fields, or six with seconds first: `'0 3 * * *'` is every day at three. */
  readonly cron?: string
  /** A period instead, counted from `from`, or from 1970-01-01 UTC. At least a second. */
  readonly every?: Duration
  /** The IANA name of the zone in which the cron expression is read. Default: UTC. */
  readonly timeZone?: string
  /** Delays each firing by up to this much, always by the same for one boundary, so that schedules of one time spread. */
  readonly jitter?: Duration
  /** The first instant at which it may fire. */
  readonly from?: Date | number
  /** It never fires at this instant or after. */
  readonly until?: Date | number
  /**
   * What happens at a boundary while an earlier execution has not ended: `skip` drops the boundary (default), `queue` runs it
   * afterwards, `cancel_previous` cancels the earlier one and runs it then, and `allow` runs both.
   */
  readonly overlap?: Overlap
  /**
   * What happens to boundaries that passed more than a minute ago because no engine ran: `last` runs the latest one (default),
   * `skip` none, and `all` runs all, the latest 100 at most.
   */
  readonly missed?: MissedPolicy
}

/** The settings of a schedule besides its task. Those of the task apply to each execution unless given here. */
export interface ScheduleTimes extends TaskSettings, FiringTimes {
  readonly tags?: Tags
}

/** The settings of a schedule besides its flow. Those of the flow apply to each run unless given here. */
export interface FlowScheduleTimes extends FlowSettings, FiringTimes {}

/** The input is optional if it may be undefined. */
type WithInput<Input> = undefined extends Input ? { readonly input?: Input } : { readonly input: Input }

export type ScheduleOptions<Input = unknown, Parsed = unknown, Returned = unknown, Output = unknown> = ScheduleTimes & {
  readonly task: Task<Input, Parsed, Returned, Output>
} & WithInput<NoInfer<Input>>

export type FlowScheduleOptions<Input = unknown, Output = unknown> = FlowScheduleTimes & {
  readonly flow: FlowDefinition<Input, Output>
} & WithInput<NoInfer<Input>>

/** A schedule that code declares: `fabric.work(handlers, { schedules: [nightly] })`. */
export interface ScheduleDefinition {
  readonly name: string
  readonly starts: ScheduledStart
  readonly input: unknown
  readonly times: ParsedTimes
}

/** What a schedule starts, and its settings. */
export type ScheduledStart =
  | { readonly kind: 'task'; readonly task: AnyTask; readonly options: ParsedTaskOptions }
  | { readonly kind: 'flow'; readonly flow: AnyFlow; readonly settings: ReturnType<typeof flowSettings> }

export interface AnyScheduleOptions extends ScheduleTimes {
  readonly task: AnyTask
  readonly input?: unknown
}

export interface AnyFlowScheduleOptions extends FlowScheduleTimes {
  readonly flow: AnyFlow
  readonly input?: unknown
}

const firingTimes = shape<FiringTimes>()("{ cron: '0 3 * * *', timeZone: 'Europe/Berlin' }", {
  cron: checkText,
  every: (value, field) => parseDuration(value, field, SCHEDULE_PERIOD_MIN_MS),
  timeZone: checkText,
  jitter: checkJitter,
  from: checkInstant,
  until: checkInstant,
  overlap: oneOf<Overlap>({ skip: true, queue: true, cancel_previous: true, allow: true }),
  missed: oneOf<MissedPolicy>({ skip: true, last: true, all: true }),
})

const taskScheduleOptions = shape<AnyScheduleOptions>()(
  "{ task: report, cron: '0 3 * * *', timeZone: 'Europe/Berlin' }",
  {
    ...taskSettings.checks,
    ...firingTimes.checks,
    task: required(checkTask),
    input: unchecked(),
    tags: unchecked<Tags>(),
  },
)

const flowScheduleOptions = shape<AnyFlowScheduleOptions>()("{ flow: release, cron: '0 3 * * *' }", {
  ...flowSettings.checks,
  ...firingTimes.checks,
  flow: required(checkFlow),
  input: unchecked(),
})

type Times = ReturnType<typeof firingTimes>
export type ParsedTimes = { readonly [K in keyof Times]: Times[K] | undefined }
type ParsedTaskOptions = Omit<ReturnType<typeof taskScheduleOptions>, 'task' | 'input' | keyof FiringTimes>

function checkFlow(value: unknown, field: string): AnyFlow {
  if (isFlow(value)) return value
  throw invalidInput(field, `${field} is ${show(value)}, but must be a flow that flow(…) has made.`)
}

/**
 * Defines a schedule. It does nothing by itself: `fabric.work` creates and updates the schedules that it is given.
 *
 * @example
 * const nightly = schedule('nightly-report', { task: report, input: { all: true }, cron: '0 3 * * *', timeZone: 'Europe/Berlin' })
 * await fabric.work([reportHandler], { schedules: [nightly], schedulesOwner: 'reports' })
 *
 * @example
 * const weekly = schedule('weekly-release', { flow: release, input: { branch: 'main' }, cron: '0 6 * * 1' })
 */
export function schedule<Input, Parsed, Returned, Output>(
  name: string,
  options: ScheduleOptions<Input, Parsed, Returned, Output>,
): ScheduleDefinition
export function schedule<Input, Output>(name: string, options: FlowScheduleOptions<Input, Output>): ScheduleDefinition
export function schedule(name: string, options: AnyScheduleOptions | AnyFlowScheduleOptions): ScheduleDefinition
export function schedule(name: string, options: AnyScheduleOptions | AnyFlowScheduleOptions): ScheduleDefinition {
  const { starts, input, times } = parse(options)
  checkTimes(times)
  return { name: checkScheduleName(name), starts, input, times }
}

/** Parses the times of a schedule alone. */
export function parseFiringTimes(options: FiringTimes): ParsedTimes {
  const { cron, every, timeZone, jitter, from, until, overlap, missed } = firingTimes(options)
  const times = { cron, every, timeZone, jitter, from, until, overlap, missed }
  checkTimes(times)
  return times
}

function checkTimes(times: ParsedTimes): void {
  if ((times.cron === undefined) === (times.every === undefined)) {
    throw invalidInput('cron', 'A schedule needs either cron or every, and not both.')
  }
  if (times.cron === undefined && times.timeZone !== undefined) {
    throw invalidInput(
      'timeZone',
      'timeZone is for cron. A period has none: every day at a local time is a cron expression.',
    )
  }
  if (times.from !== undefined && times.until !== undefined && times.until <= times.from) {
    throw invalidInput('until', 'until must be after from.')
  }
}

function parse(options: AnyScheduleOptions | AnyFlowScheduleOptions): Omit<ScheduleDefinition, 'name'> {
  checkObject(options, 'options', "{ task: report, cron: '0 3 * * *' }")
  if ('flow' in options && 'task' in options && options.task !== undefined) {
    throw invalidInput('flow', 'A schedule starts either a task or a flow, and not both.')
  }
  if ('flow' in options) {
    const { flow, input, ...rest } = flowScheduleOptions(options)
    const { cron, every, timeZone, jitter, from, until, overlap, missed, ...settings } = rest
    const times = { cron, every, timeZone, jitter, from, until, overlap, missed }
    return { starts: { kind: 'flow', flow, settings }, input, times }
  }
  const { task, input, ...rest } = taskScheduleOptions(options)
  const { cron, every, timeZone, jitter, from, until, overlap, missed, ...settings } = rest
  const times = { cron, every, timeZone, jitter, from, until, overlap, missed }
  return { starts: { kind: 'task', task, options: settings }, input, times }
}

export function checkScheduleName(value: unknown, field = 'schedule'): string {
  return checkTaskName(value, field)
}

export function isScheduleDefinition(value: unknown): value is ScheduleDefinition {
  return typeof value === 'object' && value !== null && 'times' in value && 'starts' in value && 'name' in value
}

function checkText(value: unknown, field: string): string {
  if (typeof value === 'string' && value.length <= TEXT_MAX) return value
  throw invalidInput(field, `${field} is ${show(value)}, but must be a text of at most ${TEXT_MAX} characters.`)
}

const TEXT_MAX = 256

function checkJitter(value: unknown, field: string): number {
  const ms = parseDuration(value, field)
  if (ms <= SCHEDULE_JITTER_MAX_MS) return ms
  throw invalidInput(field, `${field} is ${ms} ms, but must be at most ${SCHEDULE_JITTER_MAX_MS} ms.`)
}

/** Returns milliseconds since the epoch. */
export function checkInstant(value: unknown, field: string): number {
  const at = value instanceof Date ? value.getTime() : value
  if (Number.isSafeInteger(at) && (at as number) >= 0 && (at as number) <= INSTANT_MAX) return at as number
  throw invalidInput(field, `${field} is ${show(value)}, but must be a Date or milliseconds since the epoch.`)
}
