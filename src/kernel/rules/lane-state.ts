/** What the settings of a lane allow. */
import { laneSettingsId, parseLaneSettingsId } from '../model/lane-names.ts'
import type { NamedLane } from '../model/lane-names.ts'
import type { Lane, LaneHold } from '../model/lane-schema.ts'

/** Names of programs are ASCII, so no limit of theirs has a name with this beginning. */
const LANE_LIMIT_START = 'lane\u00b7'

/** Returns the name of the limit that all executions of a lane in a namespace share. */
export function laneLimitName(lane: string, namespace: string): string {
  return LANE_LIMIT_START + laneSettingsId(lane, namespace)
}

/** Returns the lane that a limit belongs to, if it belongs to one, and in which namespace. */
export function laneOfLimit(name: string): NamedLane | undefined {
  return name.startsWith(LANE_LIMIT_START) ? parseLaneSettingsId(name.substring(LANE_LIMIT_START.length)) : undefined
}

/** Returns what stops a task in a lane: its own hold, and that of the lane. Both apply. */
function holdsOf(lane: Lane | undefined, task: string): LaneHold[] {
  const own = lane?.tasks.find((held) => held.task === task)?.hold
  return [lane?.hold, own].flatMap((hold) => hold ?? [])
}

/** Returns what keeps workers from a task: the hold of the lane, or of the task alone. */
export function claimHoldOf(lane: Lane | undefined, task: string): LaneHold | undefined {
  return holdsOf(lane, task).find(({ state }) => state !== 'draining')
}

/** Returns what keeps new executions of a task out. */
export function submitHoldOf(lane: Lane | undefined, task: string): LaneHold | undefined {
  return holdsOf(lane, task).find(({ state }) => state !== 'paused')
}
