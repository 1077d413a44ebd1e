/** Changes the settings of a lane in the partition of the whole store. Execution partitions get a copy of them afterwards. */
import { LANE_TASK_COUNT_MAX } from '../../limits.ts'
import { laneSubject } from '../../model/events.ts'
import { laneSettingsId } from '../../model/lane-names.ts'
import type { Lane, LaneHold, LaneLimit } from '../../model/lane-schema.ts'
import { DEFAULT_NAMESPACE } from '../../model/task-class.ts'
import { refused } from '../../results.ts'
import type { Refused } from '../../results.ts'
import type { Tx } from '../../tx.ts'

export interface ConfigureLaneInput {
  readonly lane: string
  /** Whose limit of the lane is meant: that of the default namespace unless given. All other settings are those of the store. */
  readonly namespace?: string | undefined
  /** Only this task of the lane. */
  readonly task?: string | undefined
  /** If absent, the state stays as it is. */
  readonly state?: LaneHold['state'] | 'active' | undefined
  /** If absent, the weight stays as it is. */
  readonly weight?: number | undefined
  /** If absent, the limit stays as it is. */
  readonly limit?: LaneLimit | 'none' | undefined
  readonly by: string
  readonly reason?: string | undefined
}

export type ConfigureLaneResult =
  { readonly kind: 'lane_configured' | 'lane_unchanged'; readonly lane: Lane } | Refused<'too_many_held_tasks'>

export function configureLane(tx: Tx, input: ConfigureLaneInput): ConfigureLaneResult {
  const id = laneSettingsId(input.lane, input.namespace ?? DEFAULT_NAMESPACE)
  const before = tx.get('lane', id) ?? newLane(id)
  const { hold, tasks } = input.state === undefined ? before : withState(tx, before, input, input.state)
  if (tasks.length > LANE_TASK_COUNT_MAX) {
    return refused('too_many_held_tasks', { limit: LANE_TASK_COUNT_MAX })
  }
  const weight = input.weight ?? before.weight
  const limit = limitAfter(before.limit, input.limit)
  const isUnchanged =
    hold === before.hold && tasks === before.tasks && weight === before.weight && limit === before.limit
  if (isUnchanged) return { kind: 'lane_unchanged', lane: before }

  const lane: Lane = {
    ...before,
    version: before.version + 1,
    hold,
    tasks,
    weight,
    limit,
    changedAt: tx.now,
    isCopying: true,
  }
  tx.put(lane)
  tx.emit('lane_changed', laneSubject(lane), { by: input.by, reason: input.reason, effect: input.state })
  return { kind: 'lane_configured', lane }
}

function newLane(id: string): Lane {
  return {
    type: 'lane',
    id,
    version: 0,
    hold: undefined,
    tasks: [],
    weight: undefined,
    changedAt: 0,
    isCopying: undefined,
    limit: undefined,
  }
}

/** Returns the limit after a change: the same object if nothing has changed. */
function limitAfter(before: LaneLimit | undefined, given: ConfigureLaneInput['limit']): LaneLimit | undefined {
  if (given === undefined) return before
  if (given === 'none') return undefined
  const isSame =
    before !== undefined &&
    before.concurrency === given.concurrency &&
    before.rate?.count === given.rate?.count &&
    before.rate?.windowMs === given.rate?.windowMs
  return isSame ? before : given
}

/** Returns what is held after a change. A hold that has the state already stays as it is. */
function withState(
  tx: Tx,
  lane: Lane,
  { task, by, reason }: ConfigureLaneInput,
  state: LaneHold['state'] | 'active',
): Pick<Lane, 'hold' | 'tasks'> {
  const hold = state === 'active' ? undefined : { state, at: tx.now, by, reason }
  if (task === undefined) {
    if (lane.hold?.state === hold?.state && (hold !== undefined || lane.tasks.length === 0)) return lane
    // A lane is resumed with all its tasks.
    return { hold, tasks: hold === undefined ? [] : lane.tasks }
  }
  const others = lane.tasks.filter((held) => held.task !== task)
  const present = lane.tasks.find((held) => held.task === task)
  if (present?.hold.state === hold?.state) return lane
  return { hold: lane.hold, tasks: hold === undefined ? others : [...others, { task, hold }] }
}
