/** One lane: pause, resume, drain or disable it or one of its tasks, and give it a weight. */
import { required, shape } from '../../options/shape.ts'
import { LANE_WEIGHT_MAX, LANE_WEIGHT_MIN } from '../../kernel/index.ts'
import type { ConfigureLaneInput, Lane, LaneHold } from '../../kernel/index.ts'
import { copyLane } from '../../stores/lane-copy.ts'
import { STORE_PARTITION } from '../../stores/partitions.ts'
import { checkLane, checkPrincipal, checkReason, checkTaskName, invalidInput, show } from '../checks/names.ts'
import type { Session } from '../session.ts'
import { retryWhileUnavailable } from '../transport/retry-unavailable.ts'
import { unwrap } from '../transport/unwrap.ts'

export interface HoldLaneOptions {
  /** Only this task of the lane. */
  readonly task?: string
  /** Shown to everyone who asks why work is waiting. */
  readonly reason?: string
  readonly by?: string
}

export interface LaneSettings {
  /** The share of a worker that serves several lanes: 1 unless given. A lane without work leaves its share to the others. */
  readonly weight: number
  readonly by?: string
}

/** What an operator has set for a lane. */
export interface LaneStatus {
  readonly lane: string
  readonly state: 'active' | LaneHold['state']
  /** Who holds the lane, since when, and why. */
  readonly hold: LaneHold | undefined
  /** The tasks that are held while the lane is not. */
  readonly tasks: readonly { readonly task: string; readonly hold: LaneHold }[]
  readonly weight: number | undefined
}

const holdOptions = shape<HoldLaneOptions>()("{ reason: 'the provider is down' }", {
  task: checkTaskName,
  reason: checkReason,
  by: checkPrincipal,
})

const laneSettings = shape<LaneSettings>()('{ weight: 3 }', { weight: required(checkWeight), by: checkPrincipal })

export class LaneHandle {
  readonly name: string
  readonly #session: Session

  constructor(session: Session, name: string) {
    this.#session = session
    this.name = checkLane(name)
  }

  /** Stops claims. Submits are accepted, and running executions continue. */
  pause(options: HoldLaneOptions = {}): Promise<LaneStatus> {
    return this.#hold('paused', options)
  }

  /** Refuses submits. Waiting and running executions continue, and may start children and add members. */
  drain(options: HoldLaneOptions = {}): Promise<LaneStatus> {
    return this.#hold('draining', options)
  }

  /** Refuses submits and stops claims. */
  disable(options: HoldLaneOptions = {}): Promise<LaneStatus> {
    return this.#hold('disabled', options)
  }

  /** Ends a pause, a drain or a disablement: of one task, or of the lane with all its tasks. */
  resume(options: HoldLaneOptions = {}): Promise<LaneStatus> {
    return this.#hold('active', options)
  }

  async configure(settings: LaneSettings): Promise<LaneStatus> {
    const { weight, by = 'client' } = laneSettings(settings)
    return await this.#change({ lane: this.name, weight, by })
  }

  #hold(state: ConfigureLaneInput['state'], options: HoldLaneOptions): Promise<LaneStatus> {
    const { by = 'client', ...rest } = holdOptions(options)
    return this.#change({ lane: this.name, state, by, ...rest })
  }

  async #change(input: ConfigureLaneInput): Promise<LaneStatus> {
    const { result } = await this.#session.runIn(STORE_PARTITION, 'configureLane', input)
    const { lane } = unwrap(result)
    // A repetition after an error may find the change made, but not copied.
    if (lane.isCopying === true)
      await retryWhileUnavailable(this.#session.runtime, () => copyLane(this.#session.batcher, lane))
    return laneStatus(lane)
  }
}

export function laneStatus({ id, hold, tasks, weight }: Lane): LaneStatus {
  return { lane: id, state: hold?.state ?? 'active', hold, tasks, weight }
}

function checkWeight(value: unknown, field: string): number {
  if (typeof value === 'number' && value >= LANE_WEIGHT_MIN && value <= LANE_WEIGHT_MAX) return value
  throw invalidInput(
    field,
    `${field} is ${show(value)}, but must be a number from ${LANE_WEIGHT_MIN} to ${LANE_WEIGHT_MAX}.`,
  )
}
