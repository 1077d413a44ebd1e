/** The settings of a lane, as they are stored. New fields, words and variants go to the end. */
import { flag, frozenList, frozenObject, maybe, number, rare, record, text, whole, word } from './field-kinds.ts'
import type { Infer, InferRecord } from './field-kinds.ts'
import { rate } from './limit-schema.ts'

const laneHold = frozenObject({
  /**
   * - `paused`: takes submits, and nothing is claimed.
   * - `draining`: refuses submits, and what waits is claimed.
   * - `disabled`: neither.
   */
  state: word(['paused', 'draining', 'disabled']),
  at: whole,
  by: text,
  reason: maybe(text),
})

/** What an operator has stopped in a lane, or for one task of it. */
export type LaneHold = Infer<typeof laneHold>

const laneLimit = frozenObject({
  /** How much of the lane may start in a sliding window. */
  rate: maybe(rate),
  /** How much of the lane may run at once. */
  concurrency: maybe(whole),
})

/** What limits all executions of a lane together. */
export type LaneLimit = Infer<typeof laneLimit>

const taskHold = frozenObject({ task: text, hold: laneHold })

export const lane = record('lane', {
  /** The name of the lane, or for the limit of a namespace in it, what `laneSettingsId` returns. */
  id: text,
  /** Rises with every change. Copies in other partitions are compared by it. */
  version: whole,
  hold: maybe(laneHold),
  /** The tasks that are held while the lane is not. */
  tasks: frozenList(taskHold),
  /** The share of a worker that serves several lanes. */
  weight: maybe(number),
  changedAt: whole,
  /** Set on the original while copies may be of an earlier version. */
  isCopying: rare(flag),
  /** What every execution of the lane needs a permit of. The limit itself is defined in its own partition. */
  limit: rare(laneLimit),
})

/**
 * The settings of a lane that was ever configured, or the limit of a namespace in a lane. The original is in the partition of the whole store; execution partitions have
 * copies, so that claims and submits read them in their own partition.
 */
export interface Lane extends InferRecord<typeof lane> {}
