/** One schedule: describe it, pause it, fire it by hand, make up for past boundaries, delete it. */
import { boundariesAfter } from '../../calendar/boundaries.ts'
import { firingAt } from '../../calendar/firing.ts'
import { SCHEDULE_BACKFILL_MAX, SCHEDULE_FIRE_MAX, SEPARATOR } from '../../kernel/index.ts'
import type { ExecutionId, Instant, PlannedFiring } from '../../kernel/index.ts'
import { required, shape, wholeNumber } from '../../options/shape.ts'
import { derivedUuid } from '../../runtime/index.ts'
import { checkPrincipal, checkReason, invalidInput } from '../checks/names.ts'
import { checkInstant, checkScheduleName } from '../define/schedule.ts'
import type { Session } from '../session.ts'
import { mintExecutionId } from '../transport/ids.ts'
import { unwrap } from '../transport/unwrap.ts'
import { describeSchedule, summariseSchedule } from './schedule-description.ts'
import type { Described, ScheduleDescription, ScheduleSummary } from './schedule-description.ts'
import { placeOf } from './schedule-place.ts'
import type { SchedulePlace } from './schedule-place.ts'

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
  /** The executions of those that had not fired. */
  readonly created: readonly ExecutionId[]
}

const NEXT_DEFAULT = 5
const NEXT_MAX = 1_000
const CLIENT = 'client'

const holdOptions = shape<HoldScheduleOptions>()("{ reason: 'the provider is down' }", {
  reason: checkReason,
  by: checkPrincipal,
})
const describeOptions = shape<DescribeScheduleOptions>()('{ next: 10 }', { next: wholeNumber(0, NEXT_MAX) })
const deleteOptions = shape<{ readonly by?: string }>()("{ by: 'ada' }", { by: checkPrincipal })
const backfillOptions = shape<BackfillOptions>()('{ from: new Date(…), to: new Date(…) }', {
  from: required(checkInstant),
  to: required(checkInstant),
})

/** `Started` is the handle of an execution. */
export class ScheduleHandle<Started = unknown> {
  readonly name: string
  readonly #session: () => Session
  readonly #open: (id: ExecutionId) => Started

  /** `session` throws once the client is closed. */
  constructor(session: () => Session, name: string, open: (id: ExecutionId) => Started) {
    this.name = checkScheduleName(name)
    this.#session = session
    this.#open = open
  }

  async describe(options: DescribeScheduleOptions = {}): Promise<ScheduleDescription> {
    const { next = NEXT_DEFAULT } = describeOptions(options)
    return describeSchedule(await this.#read(), next, this.#place().number)
  }

  /** Stops firing. Executions that were created run on. Boundaries of the pause do not fire later. */
  pause(options: HoldScheduleOptions = {}): Promise<ScheduleSummary> {
    return this.#hold('paused', options)
  }

  /** Ends a pause: it fires again at the next boundary. */
  resume(options: HoldScheduleOptions = {}): Promise<ScheduleSummary> {
    return this.#hold('active', options)
  }

  /** Starts its task now, also while it is paused and while an earlier execution runs. */
  trigger(): Promise<Started> {
    return this.triggerOnce(undefined)
  }

  /**
   * Like `trigger`. Repeated with one key, it starts nothing more.
   * @internal
   */
  async triggerOnce(key: string | undefined): Promise<Started> {
    const session = this.#session()
    const { scheduleId, number, partition } = this.#place()
    const executionId =
      key === undefined
        ? mintExecutionId(number, session.runtime)
        : (`${number}-${derivedUuid(scheduleId + SEPARATOR + key).uuid}` as ExecutionId)
    const input = { scheduleId, cause: 'trigger', firings: [{ executionId }] } as const
    unwrap((await session.runIn(partition, 'fireSchedule', input)).result)
    return this.#open(executionId)
  }

  /**
   * Creates the executions of past boundaries that have not fired, at once and in any number at a time. Idempotent: a boundary
   * whose execution exists is left alone.
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
    const created: ExecutionId[] = []
    for (let start = 0; start < boundaries.length; start += SCHEDULE_FIRE_MAX) {
      const page = boundaries.slice(start, start + SCHEDULE_FIRE_MAX)
      created.push(...(await this.#fire(page.map((boundary) => firingAt(schedule, boundary, number)))))
    }
    return { boundaryCount: boundaries.length, created }
  }

  /** Deletes it. Executions that were created run on. */
  async delete(options: { readonly by?: string } = {}): Promise<void> {
    const { by = CLIENT } = deleteOptions(options)
    const { scheduleId, partition } = this.#place()
    unwrap((await this.#session().runIn(partition, 'deleteSchedule', { scheduleId, by })).result)
  }

  async #fire(firings: readonly PlannedFiring[]): Promise<readonly ExecutionId[]> {
    const { scheduleId, partition } = this.#place()
    const given = firings.map(({ executionId, at }): { executionId: ExecutionId; at: Instant } => ({ executionId, at }))
    const input = { scheduleId, cause: 'backfill', firings: given } as const
    return unwrap((await this.#session().runIn(partition, 'fireSchedule', input)).result).created
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
