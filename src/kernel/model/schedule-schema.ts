/** Schedules, as they are stored. New fields, words and variants go to the end. */
import { blobInfo, executionId, fairness, firedId, limitRef, retentions, retryPolicy, tag } from './base-records.ts'
import { flag, frozenList, frozenObject, maybe, rare, record, text, whole, word } from './field-kinds.ts'
import type { Infer, InferRecord } from './field-kinds.ts'
import { outcomeRule, pendingParts } from './flow-schema.ts'

const timing = frozenObject({
  /** The cron expression, read in `timeZone`. Absent: `everyMs` counts from `originAt`. */
  cron: maybe(text),
  timeZone: maybe(text),
  everyMs: maybe(whole),
  originAt: maybe(whole),
  /** A boundary fires up to this much later, by a delay that follows from the schedule and the boundary. */
  jitterMs: whole,
  /** No boundary is before. */
  fromAt: maybe(whole),
  /** No boundary is at it or after. */
  untilAt: maybe(whole),
})

/** When a schedule fires. The kernel stores it and never computes with it. */
export type ScheduleTiming = Infer<typeof timing>

const scheduledWork = frozenObject({
  /** The task, or the name of the flow. */
  task: text,
  version: maybe(whole),
  lane: text,
  class: text,
  needs: maybe(frozenList(text)),
  priority: whole,
  tags: frozenList(tag),
  retry: retryPolicy,
  attemptTimeoutMs: maybe(whole),
  totalTimeoutMs: maybe(whole),
  compensationTimeoutMs: maybe(whole),
  retentionMs: whole,
  payload: maybe(blobInfo),
  fairness: maybe(fairness),
  limits: maybe(frozenList(limitRef)),
  retentions: rare(retentions),
})

/** The settings of the executions that a schedule creates. */
export type ScheduledWork = Infer<typeof scheduledWork>

const scheduledFlow = frozenObject({
  name: text,
  tags: frozenList(tag),
  outcomeRule,
  retentionMs: whole,
  /** The input of its definition, if that has conditions. */
  input: maybe(blobInfo),
  /** The ids of its nodes are those of no execution: each boundary has ids of its own. */
  ...pendingParts,
})

/** The flow that a schedule starts at each boundary. */
export type ScheduledFlow = Infer<typeof scheduledFlow>

const plannedFiring = frozenObject({
  /** The boundary. */
  at: whole,
  /** The boundary and its jitter. */
  fireAt: whole,
  /** Derived from the schedule and the boundary. Of a schedule of flows, the id of the flow. */
  executionId: firedId,
  /** The ids of the members of its flow, in the order of the nodes. */
  memberIds: rare(frozenList(executionId)),
})

/** One boundary that is to come or is waiting. */
export type PlannedFiring = Infer<typeof plannedFiring>

const overlap = word(['skip', 'queue', 'cancel_previous', 'allow'])

/** What happens at a boundary while an earlier firing has not ended. */
export type Overlap = Infer<typeof overlap>

const missed = word(['skip', 'last', 'all'])

/** What happens to boundaries that passed while no engine ran. */
export type MissedPolicy = Infer<typeof missed>

const skipReason = word([
  'missed',
  'overlap',
  'queue_full',
  'paused',
  'lane_draining',
  'lane_disabled',
  'too_many_needs',
  'changed',
])

/** Why a boundary did not fire. */
export type SkipReason = Infer<typeof skipReason>

const hold = frozenObject({ at: whole, by: text, reason: maybe(text) })
const fired = frozenObject({ at: whole, firedAt: whole, executionId: firedId })
const skipped = frozenObject({ at: whole, skippedAt: whole, reason: skipReason })

export const schedule = record('schedule', {
  /** Namespace and name. */
  id: text,
  namespace: text,
  name: text,
  /** Who declared it in code. */
  owner: maybe(text),
  /** A digest of the whole definition, and of its timing. An equal definition changes nothing. */
  digest: text,
  timingDigest: text,
  /** Rises with every change of the definition. Also the slot of the input. */
  revision: whole,
  timing,
  work: scheduledWork,
  overlap,
  missed,
  pause: maybe(hold),
  /** The next boundaries, in the order of their firing. */
  planned: frozenList(plannedFiring),
  /** All boundaries up to here were planned, or are never fired. */
  plannedUntil: whole,
  /** When boundaries were last planned. */
  plannedAt: whole,
  /** No boundary is after the planned ones. */
  isComplete: flag,
  /** When to ask for boundaries; absent while there are enough. */
  planAt: maybe(whole),
  /** Missed boundaries wait until later ones are planned. */
  isStalled: flag,
  /** Boundaries that wait for the end of an earlier firing, oldest first. */
  waiting: frozenList(plannedFiring),
  /** When to look at what waits; absent until an earlier firing ends. */
  wakeAt: maybe(whole),
  /** Latest firings that may not have ended. */
  open: frozenList(firedId),
  fired: maybe(fired),
  firedCount: whole,
  skipped: maybe(skipped),
  createdAt: whole,
  changedAt: whole,
  /** What it starts instead of an execution. `work` then has the name of the flow. */
  flow: rare(scheduledFlow),
})

/** Creates an execution or a flow at each of its boundaries. In the partition of those that it creates. */
export interface Schedule extends InferRecord<typeof schedule> {}
