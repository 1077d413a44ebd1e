/** What the settings of a lane allow. */
import type { Lane, LaneHold } from '../model/lane-schema.ts'

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
