/** One lane: pause, resume, drain or disable it or one of its tasks, give it a weight, and limit it. */
import { required, shape } from '../../options/shape.ts'
import { LANE_WEIGHT_MAX, LANE_WEIGHT_MIN, laneLimitName } from '../../kernel/index.ts'
import type { ConfigureLaneInput, Lane, LaneHold, LaneLimit } from '../../kernel/index.ts'
import { copyLane } from '../../stores/lane-copy.ts'
import { STORE_PARTITION, limitPartition } from '../../stores/partitions.ts'
import {
  checkLane,
  checkNamespace,
  checkPrincipal,
  checkReason,
  checkTaskName,
  invalidInput,
  show,
} from '../checks/names.ts'
import { limitTerms } from '../define/limit.ts'
import type { LimitOptions } from '../define/limit.ts'
import type { LimitChange } from '../limits/limit-calls.ts'
import { wakeBlocked } from '../../stores/deliver-wakes.ts'
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

export interface LaneLimitChange extends LimitChange {
  /** Whose executions are limited: those of the namespace of the fabric unless given. */
  readonly namespace?: string
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
  /** What limits the executions of the namespace together. */
  readonly limit: LaneLimit | undefined
}

const holdOptions = shape<HoldLaneOptions>()("{ reason: 'the provider is down' }", {
  task: checkTaskName,
  reason: checkReason,
  by: checkPrincipal,
})

const limitChange = shape<LaneLimitChange>()("{ reason: 'a smaller plan' }", {
  reason: checkReason,
  by: checkPrincipal,
  namespace: checkNamespace,
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
    return await this.#configure({ weight, by })
  }

  /**
   * Limits the executions of a namespace in the lane together: how many run at once, how many start in a time, or both. It replaces
   * an earlier limit of theirs. Running executions continue, and those that wait keep their order.
   *
   * @example
   * await fabric.lane('mail').limit({ concurrency: 20, perMinute: 600 }, { reason: 'a smaller plan' })
   */
  async limit(options: LimitOptions, change: LaneLimitChange = {}): Promise<LaneStatus> {
    const limit = limitTerms(options)
    const { by = 'client', reason, namespace: wanted } = limitChange(change, 'change')
    const namespace = this.#ownerOf(wanted)
    const name = laneLimitName(this.name, namespace)
    await this.#session.runIn(limitPartition(name, this.#session.settings), 'defineLimit', {
      name,
      ...limit,
      by,
      reason,
    })
    await this.#change({ namespace, limit, by, reason })
    // Also if nothing has changed: an earlier call may not have woken everything.
    await wakeBlocked(this.#session.batcher, name)
    return await this.#status(namespace)
  }

  /** Removes the limit of a namespace in the lane, and wakes the executions that it has blocked. */
  async unlimit(change: LaneLimitChange = {}): Promise<LaneStatus> {
    const { by = 'client', reason, namespace: wanted } = limitChange(change, 'change')
    const namespace = this.#ownerOf(wanted)
    const name = laneLimitName(this.name, namespace)
    await this.#change({ namespace, limit: 'none', by, reason })
    // Claims that read the lane before ask for a permit of a limit that limits nothing.
    await this.#session.runIn(limitPartition(name, this.#session.settings), 'deleteLimit', { name, by, reason })
    await wakeBlocked(this.#session.batcher, name)
    return await this.#status(namespace)
  }

  #hold(state: ConfigureLaneInput['state'], options: HoldLaneOptions): Promise<LaneStatus> {
    const { by = 'client', ...rest } = holdOptions(options)
    return this.#configure({ state, by, ...rest })
  }

  async #configure(change: LaneChange): Promise<LaneStatus> {
    await this.#change(change)
    return await this.#status(this.#session.namespace)
  }

  async #change(change: LaneChange): Promise<Lane> {
    const input = { lane: this.name, ...change }
    const { result } = await this.#session.runIn(STORE_PARTITION, 'configureLane', input)
    const { lane } = unwrap(result)
    // A repetition after an error may find the change made, but not copied.
    if (lane.isCopying === true)
      await retryWhileUnavailable(this.#session.runtime, () => copyLane(this.#session.batcher, lane))
    return lane
  }

  /** What is set for the lane, with the limit of a namespace. A change of nothing reads the settings. */
  async #status(namespace: string): Promise<LaneStatus> {
    const nothing = { by: 'client' }
    const [shared, own] = await Promise.all([this.#change(nothing), this.#change({ ...nothing, namespace })])
    return { ...laneStatus(shared), limit: own.limit }
  }

  #ownerOf(wanted: string | undefined): string {
    return this.#session.listed(wanted) ?? this.#session.namespace
  }
}

type LaneChange = Omit<ConfigureLaneInput, 'lane'>

export function laneStatus({ id, hold, tasks, weight, limit }: Lane): LaneStatus {
  return { lane: id, state: hold?.state ?? 'active', hold, tasks, weight, limit }
}

function checkWeight(value: unknown, field: string): number {
  if (typeof value === 'number' && value >= LANE_WEIGHT_MIN && value <= LANE_WEIGHT_MAX) return value
  throw invalidInput(
    field,
    `${field} is ${show(value)}, but must be a number from ${LANE_WEIGHT_MIN} to ${LANE_WEIGHT_MAX}.`,
  )
}
