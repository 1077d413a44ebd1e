/** One schedule: describe it, pause it, fire it by hand, make up for past boundaries, delete it. */
import { boundariesAfter } from '../../calendar/boundaries.ts'
import { firedIds, firingAt } from '../../calendar/firing.ts'
import { planSchedule } from '../../calendar/plan-schedule.ts'
import { SCHEDULE_BACKFILL_MAX, SCHEDULE_FIRE_MAX, SEPARATOR } from '../../kernel/index.ts'
import type { FireScheduleInput, FiredId, Instant, PlannedFiring, Schedule } from '../../kernel/index.ts'
import { EngineError } from '../../kernel/engine-error.ts'
import { required, shape } from '../../options/shape.ts'
import { derivedUuid } from '../../runtime/index.ts'
import { checkPrincipal, checkReason, invalidInput } from '../checks/names.ts'
import { checkInstant, checkScheduleName, parseFiringTimes } from '../define/schedule.ts'
import type { FiringTimes } from '../define/schedule.ts'
import type { Session } from '../session.ts'
import { unwrap } from '../transport/unwrap.ts'
import { describeSchedule, summariseSchedule } from './schedule-description.ts'
import type { Described, ScheduleDescription, ScheduleSummary } from './schedule-description.ts'
import { placeOf } from './schedule-place.ts'
import type { SchedulePlace } from './schedule-place.ts'
import { NEXT_DEFAULT, checkNextCount, digestOf, timingDigestOf, timingOf } from './schedule-timing.ts'

export interface HoldScheduleOptions {
  /** Shown to everyone who asks why it does not fire. */
  readonly reason?: string
  readonly by?: string
}

export interface DescribeScheduleOptions {
  /** How many firings to come are returned; 5 unless given. */
  readonly next?: number
}

export interface BackfillOptions {
  /** The first boundary may be at this instant. */
  readonly from: Date | number
  /** Boundaries are before this instant, which has passed. */
  readonly to: Date | number
}

export interface Backfilled {
  /** The boundaries of the interval. */
  readonly boundaryCount: number
  /** The executions or flows of those that had not fired. */
  readonly created: readonly FiredId[]
}

type Fires = Schedule | undefined
type Firing = Pick<PlannedFiring, 'executionId' | 'memberIds'> & { readonly at?: Instant }

/** Calls that find another definition than the one before, after which a change or a firing gives up. */
const CALLS_MAX = 5
const CLIENT = 'client'

const holdOptions = shape<HoldScheduleOptions>()("{ reason: 'the provider is down' }", {
  reason: checkReason,
  by: checkPrincipal,
})
const describeOptions = shape<DescribeScheduleOptions>()('{ next: 10 }', { next: checkNextCount })
const deleteOptions = shape<{ readonly by?: string }>()("{ by: 'ada' }", { by: checkPrincipal })
const backfillOptions = shape<BackfillOptions>()('{ from: new Date(…), to: new Date(…) }', {
  from: required(checkInstant),
  to: required(checkInstant),
})

/** `Started` is the handle of an execution, or of a flow. */
export class ScheduleHandle<Started = unknown> {
  readonly name: string
  readonly #session: () => Session
  readonly #open: (id: FiredId) => Started

  /** `session` throws once the client is closed. */
  constructor(session: () => Session, name: string, open: (id: FiredId) => Started) {
    this.name = checkScheduleName(name)
    this.#session = session
    this.#open = open
  }

  async describe(options: DescribeScheduleOptions = {}): Promise<ScheduleDescription> {
    const { next = NEXT_DEFAULT } = describeOptions(options)
    return describeSchedule(await this.#read(), next, this.#place().number)
  }

  /** Stops firing. Executions and flows that were created run on. Boundaries of the pause do not fire later. */
  pause(options: HoldScheduleOptions = {}): Promise<ScheduleSummary> {
    return this.#hold('paused', options)
  }

  /** Ends a pause: it fires again at the next boundary. */
  resume(options: HoldScheduleOptions = {}): Promise<ScheduleSummary> {
    return this.#hold('active', options)
  }

  /**
   * Changes when it fires, and what happens if firings overlap or are missed. What it starts stays as it is. A time that is not
   * given has its default. A boundary that has come fires by the earlier times.
   *
   * @example
   * await fabric.schedule('nightly').retime({ cron: '0 4 * * *', timeZone: 'Europe/Berlin' })
   */
  async retime(times: FiringTimes, options: HoldScheduleOptions = {}): Promise<ScheduleSummary> {
    const { by = CLIENT, reason } = holdOptions(options)
    const parsed = parseFiringTimes(times)
    const { overlap = 'skip', missed = 'last' } = parsed
    const timing = timingOf(parsed)
    const { scheduleId, partition, number } = this.#place()
    let { schedule } = await this.#read()
    for (let call = 0; call < CALLS_MAX; call++) {
      const basis = schedule.digest
      const timingDigest = timingDigestOf(timing, schedule.flow && namesIn(schedule.flow.nodes))
      const digest = digestOf([basis, timingDigest, overlap, missed])
      const input = { scheduleId, basis, digest, timingDigest, timing, overlap, missed, by, reason }
      const result = unwrap((await this.#session().runIn(partition, 'retimeSchedule', input)).result)
      schedule = result.schedule
      if (result.kind === 'schedule_outdated') continue
      const planned = await planSchedule(schedule, number, result.at, async (plan) => {
        return (await this.#session().runIn(partition, 'planSchedule', plan)).result
      })
      return summariseSchedule(planned ?? schedule)
    }
    throw beingChanged()
  }

  /** Starts its task or its flow now, also while it is paused and while an earlier execution runs. */
  trigger(): Promise<Started> {
    return this.triggerOnce(undefined)
  }

  /**
   * Like `trigger`. Repeated with one key, it starts nothing more.
   * @internal
   */
  async triggerOnce(key: string | undefined): Promise<Started> {
    const session = this.#session()
    const { scheduleId, number } = this.#place()
    const uuid = key === undefined ? session.runtime.uuid() : derivedUuid(scheduleId + SEPARATOR + key).uuid
    let started = firedIds({}, uuid, number).executionId
    await this.#fire('trigger', undefined, (schedule) => {
      const ids = firedIds(schedule ?? {}, uuid, number)
      started = ids.executionId
      return [ids]
    })
    return this.#open(started)
  }

  /**
   * Creates the executions or flows of past boundaries that have not fired, at once and in any number at a time. Idempotent: a
   * boundary whose execution or flow exists is left alone.
   *
   * @example
   * await fabric.schedule('nightly').backfill({ from: new Date('2026-03-01'), to: new Date('2026-03-08') })
   */
  async backfill(options: BackfillOptions): Promise<Backfilled> {
    const { from, to } = backfillOptions(options)
    const { schedule, at } = await this.#read()
    if (to > at) throw invalidInput('to', 'to is in the future. A backfill is for boundaries that have passed.')
    const found = boundariesAfter({ ...schedule.timing }, from - 1, SCHEDULE_BACKFILL_MAX + 1)
    const boundaries = found.filter((boundary) => boundary < to)
    if (boundaries.length > SCHEDULE_BACKFILL_MAX) {
      throw invalidInput(
        'from',
        `The interval has more than ${SCHEDULE_BACKFILL_MAX} boundaries. Split it: backfill shorter intervals one after the other.`,
      )
    }
    const { number } = this.#place()
    const created: FiredId[] = []
    // A flow has many inputs that are copied.
    const pageCount = schedule.flow === undefined ? SCHEDULE_FIRE_MAX : 1
    for (let start = 0; start < boundaries.length; start += pageCount) {
      const page = boundaries.slice(start, start + pageCount)
      const firings = (current: Fires) => page.map((boundary) => firingAt(current ?? schedule, boundary, number))
      created.push(...(await this.#fire('backfill', schedule, firings)))
    }
    return { boundaryCount: boundaries.length, created }
  }

  /** Deletes it. Executions and flows that were created run on. */
  async delete(options: { readonly by?: string } = {}): Promise<void> {
    const { by = CLIENT } = deleteOptions(options)
    const { scheduleId, partition } = this.#place()
    unwrap((await this.#session().runIn(partition, 'deleteSchedule', { scheduleId, by })).result)
  }

  /** Fires by the ids that follow from the schedule, and again if the schedule is another one by now. */
  async #fire(
    cause: FireScheduleInput['cause'],
    known: Schedule | undefined,
    firings: (schedule: Fires) => readonly Firing[],
  ): Promise<readonly FiredId[]> {
    const { scheduleId, partition } = this.#place()
    let schedule = known
    for (let call = 0; call < CALLS_MAX; call++) {
      const timingDigest = schedule?.flow && schedule.timingDigest
      const given = firings(schedule).map(({ executionId, at, memberIds }) => ({ executionId, at, memberIds }))
      const input = { scheduleId, cause, firings: given, timingDigest }
      const result = unwrap((await this.#session().runIn(partition, 'fireSchedule', input)).result)
      if (result.kind === 'schedule_fired') return result.created
      schedule = result.schedule
    }
    throw beingChanged()
  }

  async #hold(state: 'paused' | 'active', options: HoldScheduleOptions): Promise<ScheduleSummary> {
    const { by = CLIENT, reason } = holdOptions(options)
    const { scheduleId, partition } = this.#place()
    const { result } = await this.#session().runIn(partition, 'holdSchedule', { scheduleId, state, by, reason })
    return summariseSchedule(unwrap(result).schedule)
  }

  async #read(): Promise<Described> {
    const { scheduleId, partition } = this.#place()
    return unwrap((await this.#session().runIn(partition, 'describeSchedule', { scheduleId })).result)
  }

  #place(): SchedulePlace {
    return placeOf(this.#session(), this.name)
  }
}

function namesIn(nodes: readonly { readonly name: string }[]): readonly string[] {
  return nodes.map(({ name }) => name)
}

function beingChanged(): EngineError {
  return new EngineError('store_unavailable', { message: 'The schedule is being changed. Try again.' })
}
