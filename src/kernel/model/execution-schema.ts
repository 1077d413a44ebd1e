/** Executions, their attempts and their queues, as they are stored. New fields, words and variants go to the end. */
import {
  blobInfo,
  delayCause,
  executionId,
  failure,
  firingOf,
  limitRef,
  outcome,
  retentions,
  retryPolicy,
  tag,
  tagList,
  fairness,
} from './base-records.ts'
import {
  flag,
  frozen,
  frozenList,
  frozenObject,
  maybe,
  number,
  object,
  rare,
  record,
  text,
  union,
  whole,
  word,
} from './field-kinds.ts'
import type { Infer, InferRecord } from './field-kinds.ts'
import { membership } from './flow-schema.ts'
import { journal } from './journal-schema.ts'
import { shapedBy } from './shaping-schema.ts'

const lease = object({
  id: text,
  workerId: text,
  workerInstanceId: text,
  acquiredAt: whole,
  expiresAt: whole,
})

/** The exclusive, time-limited right of one worker process to change an active execution. */
export type Lease = Infer<typeof lease>

/** Presented by the lease holder with every call. Valid for one contiguous interval of the execution's life. */
export interface Fence {
  readonly leaseId: string
  readonly epoch: number
  readonly attempt: number
}

const cancelRequest = object({ reason: text, by: text, at: whole, forceAt: whole })

/** A request to cancel an active execution: delivered to the lease holder, and enforced at `forceAt`. */
export type CancelRequest = Infer<typeof cancelRequest>

const keptFailure = frozenObject({ category: text, message: text, stack: maybe(text), at: whole })

const unwinding = frozenObject({
  /** The outcome that the execution ends with, whatever its handler returns. */
  outcome: word(['cancelled', 'expired', 'failed', 'skipped']),
  reason: text,
  /** Absent for a deadline. */
  by: maybe(text),
  at: whole,
  /** The end of the time to find a worker, or to wait between two runs. */
  until: whole,
  /** Running time that is left to the handler. */
  leftMs: whole,
  /** The failure that the execution ends with. */
  failure: rare(keptFailure),
  /** What went wrong while steps were undone. */
  undoFailure: rare(keptFailure),
  /** Runs of the handler that ended before they had registered all compensations. */
  incompleteRuns: rare(whole),
})

/** An execution that is about to end, and whose handler may undo its steps before. */
export type Unwinding = Infer<typeof unwinding>

const blockCause = word(['dependencies', 'budget', 'limit', 'operator', 'hold', 'order'], ['budget', 'operator'])

export type BlockCause = Infer<typeof blockCause>

const attemptKind = word(['initial', 'retry', 'reclaim', 'replay'])

/** Why an attempt was started. */
export type AttemptKind = Infer<typeof attemptKind>

const nextAttempt = word(['initial', 'retry', 'reclaim', 'replay', 'continue'])

/** `continue` resumes the attempt that was released or parked. */
export type NextAttempt = Infer<typeof nextAttempt>

/** The running attempt, or the latest one. Its history record is written only if it ends without a result. */
const currentAttempt = object({
  number: whole,
  kind: attemptKind,
  startedAt: whole,
  /** The time it ran under earlier leases, which counts against the attempt timeout. */
  usedMs: whole,
  workerId: text,
  workerInstanceId: text,
})

const unadmitted = frozenObject({
  attempt: maybe(currentAttempt),
  startedAt: maybe(whole),
  passes: maybe(frozenList(text)),
})

/** What the claim of an execution changed that still needs a permit. Restored if the permit is refused. */
export type Unadmitted = Infer<typeof unadmitted>

const executionState = union('phase', {
  eligible: frozen({}),
  delayed: frozen({ until: whole, cause: delayCause }),
  blocked: frozen({
    by: blockCause,
    /** The gate of the limit that blocks it. */
    gate: rare(text),
  }),
  active: {
    lease,
    timeoutAt: maybe(whole),
    cancel: maybe(cancelRequest),
    /** The start of the time that counts against the attempt timeout: the claim, unless the handler started later. */
    runningSince: whole,
    /** Set if the claim had no permit for it. */
    unadmitted: rare(unadmitted),
  },
  suspended: {
    /** Kind and name of the step that the execution waits in. */
    step: text,
    reason: text,
    /** The timeout of the wait. */
    until: maybe(whole),
    remindAt: maybe(whole),
  },
  ended: frozen({ outcome, at: whole, reason: maybe(text), by: maybe(text) }),
})

export type ExecutionState = Infer<typeof executionState>
export type Phase = ExecutionState['phase']

const progress = object({ percent: maybe(number), message: maybe(text), at: whole })

export type Progress = Infer<typeof progress>

const leaseEnd = word([
  'completed',
  'failed',
  'cancelled',
  'expired',
  'released',
  'delayed',
  'timed_out',
  'lease_expired',
  'lease_revoked',
  'skipped',
  'parked',
  'suspended',
  'unwound',
  'blocked',
])

export type LeaseEnd = Infer<typeof leaseEnd>

/** How the latest lease ended. Kept until the next lease, so that a repeated last call gets the same answer. */
const endedLease = frozenObject({
  id: text,
  epoch: whole,
  how: leaseEnd,
  /** The end of the delay that the end of the lease caused. */
  until: maybe(whole),
})

const replay = object({ requestId: text, reason: maybe(text), by: maybe(text), at: whole })

/** The refusals of an input that does not fit the schemas of the workers that claimed it. */
const inputRefusals = frozenObject({
  count: whole,
  /** The builds of the workers that refused it. */
  builds: frozenList(text),
  /** The reason and the time of the last refusal. */
  reason: text,
  at: whole,
})

export type InputRefusals = Infer<typeof inputRefusals>

const followUp = frozenObject({
  requestId: maybe(text),
  task: text,
  version: maybe(whole),
  lane: text,
  class: text,
  priority: whole,
  tags: frozenList(tag),
  retry: retryPolicy,
  delayMs: maybe(whole),
  attemptTimeoutMs: maybe(whole),
  totalTimeoutMs: maybe(whole),
  compensationTimeoutMs: maybe(whole),
  retentionMs: whole,
  dedupeMs: maybe(whole),
  payload: maybe(blobInfo),
  digest: maybe(text),
  at: whole,
  /** Whether it took the place of a pending one. */
  hasDisplaced: flag,
  needs: rare(frozenList(text)),
  fairness: maybe(fairness),
  limits: rare(frozenList(limitRef)),
  trace: rare(text),
  retentions: rare(retentions),
})

/** One more run of an execution: the settings of the submit that asked for it. */
export type FollowUp = Infer<typeof followUp>

const removal = frozenObject({
  at: whole,
  /** Whether it had a result, which was removed. */
  hadResult: flag,
})

const parent = object({
  executionId,
  /** The life of the parent's journal, and the name of the child in it. Together they identify the child's step. */
  life: whole,
  name: text,
  /** Parents above it, this one included. */
  depth: whole,
  /** The key of the join that the child was started for. */
  join: rare(text),
  /** The parent does not wait for it, and its cancel does not reach it. */
  isDetached: rare(flag),
  /** The parent needs its result no more, so it is removed after its own retention. */
  isReleased: rare(flag),
})

/** The execution whose handler has started this one. */
export type Parent = Infer<typeof parent>

export const execution = record('execution', {
  id: executionId,
  /** The caller's own id, from which `id` was derived. */
  key: rare(text),
  /** The submit call that created this execution. A call with the same request id is a repeat. */
  requestId: rare(text),
  namespace: text,
  task: text,
  lane: text,
  /** What a worker must serve to claim it. Lane and class name the queue. */
  class: text,
  priority: whole,
  tags: tagList,
  retry: retryPolicy,
  attemptTimeoutMs: rare(whole),
  totalTimeoutMs: rare(whole),
  deadlineAt: rare(whole),
  retentionMs: whole,
  payload: maybe(blobInfo),
  result: maybe(blobInfo),
  createdAt: whole,
  /** The start of the current phase. */
  changedAt: whole,
  startedAt: maybe(whole),
  state: executionState,
  next: nextAttempt,
  /** The fencing counter: rises with every lease, never falls. */
  epoch: whole,
  attempt: maybe(currentAttempt),
  /** Failed attempts since the execution was created or last replayed. */
  failureCount: whole,
  /** Leases lost since the execution was created or last replayed. */
  reclaimCount: whole,
  replayCount: whole,
  failure: maybe(failure),
  progress: maybe(progress),
  lastLease: maybe(endedLease),
  lastReplay: maybe(replay),
  member: rare(membership),
  /** Absent until the first step, wait or signal. */
  journal: rare(journal),
  /** The version of the task at the submit. Part of the class, so that only workers that serve the version claim it. */
  version: rare(whole),
  /** Set while workers refuse its input. A run of its handler clears it. */
  refusals: rare(inputRefusals),
  /** Set when it starts to undo its steps, and kept after its end. */
  unwinding: rare(unwinding),
  /** Running time that its handler has to undo its steps. */
  compensationTimeoutMs: rare(whole),
  /** The digest of the input, if the caller gave the id. Submits with the same id are compared with it. */
  digest: rare(text),
  /** How long after its end the id stays taken, if that is longer than the retention. */
  dedupeMs: rare(whole),
  /** Set when its retention is over and only its id is kept: it is in no list, and owns nothing any more. */
  removed: rare(removal),
  /** The run that begins when this one ends. */
  followUp: rare(followUp),
  /** Where the payload is stored. It has two places, so that the input of a follow-up can wait in the other one. */
  payloadSlot: rare(whole),
  /** The latest submits whose runs or follow-ups are past, so that a late repetition starts nothing. */
  pastRequests: rare(frozenList(text)),
  /** Set if the handler of another execution has started it. */
  parent: rare(parent),
  /** How many runs with its id ended before this one. With its creation it identifies a run of the id, also if the clock stands still. */
  run: rare(whole),
  /** What a worker must be capable of to run it, in canonical form. Part of the class. */
  needs: rare(frozenList(text)),
  /** The key whose share of the lane it uses, the weight of that share, and its turn, which decides the order instead of its age. */
  fair: rare(frozenObject({ key: text, weight: number, turn: whole })),
  /** Limits that it needs a permit of whenever a worker starts or continues it. */
  limits: rare(frozenList(limitRef)),
  /** The gates that have released it since it was last leased. They do not block it again. */
  passes: rare(frozenList(text)),
  /** The schedule that created it, and the boundary. */
  schedule: rare(firingOf),
  /** The schedule whose next firing waits for its end. */
  awaitedBy: rare(text),
  /** The span that has submitted it, as a `traceparent` of W3C Trace Context. */
  trace: rare(text),
  /** Instead of the retention, for some outcomes. */
  retentions: rare(retentions),
  /** The key by which its submit was shaped. */
  shaping: rare(shapedBy),
})

export interface Execution extends InferRecord<typeof execution> {}

const attemptOutcome = word([
  'completed',
  'failed',
  'timed_out',
  'cancelled',
  'expired',
  'lease_expired',
  'lease_revoked',
])

export type AttemptOutcome = Infer<typeof attemptOutcome>

export const attempt = record('attempt', {
  /** The execution's id and the attempt's number. */
  id: text,
  executionId,
  number: whole,
  kind: attemptKind,
  startedAt: whole,
  endedAt: whole,
  epoch: whole,
  workerId: text,
  workerInstanceId: text,
  outcome: attemptOutcome,
  failure: maybe(failure),
})

/** History of one attempt. */
export interface Attempt extends InferRecord<typeof attempt> {}

export const queue = record('queue', {
  id: text,
  lane: text,
  class: text,
  createdAt: whole,
  /** The needs of its executions, which the class may represent by a digest. */
  needs: rare(frozenList(text)),
  /** The task whose ended executions are kept up to a number, as its latest submit says. */
  keeps: rare(frozenObject({ namespace: text, task: text, count: whole })),
})

/** The executions of one lane and class: what a worker claims from. Registered by the first submit. */
export interface Queue extends InferRecord<typeof queue> {}

export const share = record('share', {
  /** The scope and the key. */
  id: text,
  lane: text,
  key: text,
  /** The turn of the next execution of the key, unless the queue is past it. */
  nextTurn: whole,
  weight: number,
  /** When it is looked at whether the share still decides anything. */
  dueAt: whole,
  /** The queue and the priority whose turns it counts. */
  scope: text,
})

/** The share that one key has of a queue, within a priority. */
export interface Share extends InferRecord<typeof share> {}

export const rotation = record('rotation', {
  /** The queue and the priority. */
  id: text,
  /** The turn that it has reached. */
  turn: whole,
})

/** How far the fair order of a queue has come, within a priority. */
export interface Rotation extends InferRecord<typeof rotation> {}
