/** One helper per transition owns its fields, timers and event. Lint rejects an assignment to `state` in any other file. */
import { recordAttempt } from './attempts.ts'
import type { EventDetail, EventType } from '../model/events.ts'
import { countChange, flowOf } from './flow-counts.ts'
import { oweAllCancels } from '../rules/child-cancels.ts'
import { bucketOf } from '../rules/flow-state.ts'
import { closeJournal } from './close-journal.ts'
import { COMPENSATION_TIMEOUT_DEFAULT_MS, COMPENSATION_WAIT_MS } from '../limits.ts'
import type { ReplayRequest } from './prepare-replay.ts'
import type {
  AttemptOutcome,
  DelayCause,
  Execution,
  ExecutionState,
  Failure,
  InputRefusals,
  Instant,
  Lease,
  LeaseEnd,
  NextAttempt,
  Outcome,
  Unadmitted,
  Unwinding,
} from '../model/records.ts'
import type { Tx } from '../tx.ts'

/** The category of a failure, and of events, if workers refuse the input of an execution. */
export const INPUT_REFUSED = 'input_refused'

/** Leaves the active phase: adds the elapsed time to the attempt and records how the lease ended. */
function leaveLease(tx: Tx, execution: Execution, how: LeaseEnd, until: Instant | undefined): void {
  const state = execution.state
  if (state.phase !== 'active') return
  if (execution.attempt !== undefined) {
    execution.attempt.usedMs = execution.attempt.usedMs + Math.max(0, tx.now - state.runningSince)
  }
  const unwinding = execution.unwinding
  if (unwinding !== undefined) {
    // A handler has run no longer than its lease.
    const ranMs = Math.max(0, Math.min(tx.now, state.lease.expiresAt) - state.runningSince)
    const leftMs = Math.max(0, unwinding.leftMs - ranMs)
    execution.unwinding = { ...unwinding, leftMs }
  }
  execution.lastLease = { id: state.lease.id, epoch: execution.epoch, how, until }
}

/** Returns the fields of an event that identify the attempt and its worker. */
function holderDetail(execution: Execution): EventDetail {
  const attempt = execution.attempt
  return {
    attempt: attempt?.number,
    epoch: execution.epoch,
    workerId: attempt?.workerId,
    workerInstanceId: attempt?.workerInstanceId,
  }
}

export interface Requeue {
  readonly next: NextAttempt
  readonly event: EventType
  /** How the lease ended, if one was held. */
  readonly how?: LeaseEnd | undefined
  readonly reason?: string | undefined
  readonly by?: string | undefined
}

/** What blocks an execution without a gate. */
type BlockedBy = 'dependencies' | 'hold' | 'order'

function blockedBy(by: BlockedBy): ExecutionState {
  return { phase: 'blocked', by, gate: undefined }
}

/** Returns the state of a claimable execution: blocked while its flow is held, unless it undoes its steps. Else eligible. */
function readyState(tx: Tx, execution: Execution): ExecutionState {
  const isHeld = execution.unwinding === undefined && flowOf(tx, execution)?.state.phase === 'held'
  return isHeld ? blockedBy('hold') : { phase: 'eligible' }
}

/** Makes an execution claimable. */
export function makeEligible(tx: Tx, execution: Execution, requeue: Requeue): void {
  const before = bucketOf(execution)
  if (requeue.how !== undefined) leaveLease(tx, execution, requeue.how, undefined)
  execution.state = readyState(tx, execution)
  execution.next = requeue.next
  execution.changedAt = tx.now
  tx.put(execution)
  tx.emit(requeue.event, execution, {
    ...holderDetail(execution),
    reason: requeue.reason,
    by: requeue.by,
  })
  if (execution.member !== undefined) countChange(tx, execution, before)
}

export interface Delay {
  readonly until: Instant
  readonly cause: DelayCause
  /** How the lease ended. */
  readonly how: LeaseEnd
  readonly event: EventType
  readonly failure?: Failure | undefined
  /** Set if the holder refused the input. After any other delay, the handler has run. */
  readonly refusals?: InputRefusals | undefined
}

/** Delays an execution until a time; the due pass or a claim makes it eligible again. A time in the past is no delay. */
export function delayExecutionUntil(tx: Tx, execution: Execution, delay: Delay): void {
  const { until, cause, how, event, failure, refusals } = delay
  const before = bucketOf(execution)
  leaveLease(tx, execution, how, until)
  execution.state = until > tx.now ? { phase: 'delayed', until, cause } : readyState(tx, execution)
  execution.next = cause === 'retry' ? 'retry' : 'continue'
  execution.refusals = refusals
  execution.changedAt = tx.now
  tx.put(execution)
  tx.emit(event, execution, {
    ...holderDetail(execution),
    until: execution.state.phase === 'delayed' ? until : undefined,
    reason: failure?.message ?? refusals?.reason,
    category: refusals === undefined ? failure?.category : INPUT_REFUSED,
  })
  if (execution.member !== undefined) countChange(tx, execution, before)
}

/** Unblocks a member. The rest of its delay applies. The caller counts it. */
export function unblock(tx: Tx, execution: Execution): void {
  const member = execution.member
  const delay = member?.delay
  const isDelayed = delay !== undefined && delay.until > tx.now
  execution.state = isDelayed ? { phase: 'delayed', until: delay.until, cause: delay.cause } : { phase: 'eligible' }
  if (member !== undefined) member.delay = undefined
  execution.changedAt = tx.now
  tx.put(execution)
  tx.emit('execution_unblocked', execution, { until: isDelayed ? delay.until : undefined })
}

/** The `effect` of the events of an execution that waits for earlier ones of its shaping key. */
export const IN_LINE = 'in_line'

/** Lets an execution run that is the first of its shaping key now. The rest of its delay applies. */
export function releaseFromLine(tx: Tx, execution: Execution): void {
  const until = execution.shaping?.notBefore
  const isDelayed = until !== undefined && until > tx.now
  execution.state = isDelayed ? { phase: 'delayed', until, cause: 'submitted' } : { phase: 'eligible' }
  execution.changedAt = tx.now
  tx.put(execution)
  tx.emit('execution_unblocked', execution, { until: isDelayed ? until : undefined })
}

/** Stores the rest of a delay in the membership, so that it still applies when the member is unblocked. */
function keepDelay(execution: Execution): void {
  const { state, member } = execution
  if (state.phase === 'delayed' && member !== undefined) member.delay = { until: state.until, cause: state.cause }
}

/** Blocks an execution without a lease, which leaves its queue. The caller counts and puts the execution. */
export function block(tx: Tx, execution: Execution, by: 'dependencies' | 'hold'): void {
  keepDelay(execution)
  execution.state = blockedBy(by)
  execution.changedAt = tx.now
  tx.emit('execution_blocked', execution, { reason: by })
}

/** Blocks an execution before it is first written. Emits nothing. The caller counts and puts the execution. */
export function blockNew(execution: Execution, by: BlockedBy): void {
  keepDelay(execution)
  execution.state = blockedBy(by)
}

/** Makes a blocked member wait for its dependencies; no-op in other phases. Emits nothing. The caller puts the execution. */
export function waitForDependencies(execution: Execution): void {
  if (execution.state.phase === 'blocked') execution.state = blockedBy('dependencies')
}

/** Makes an ended execution eligible again, or blocked by what `by` names. The caller counts a member in its flow. */
export function revive(tx: Tx, execution: Execution, request: ReplayRequest, by: BlockedBy | undefined): void {
  execution.state = by === undefined ? { phase: 'eligible' } : blockedBy(by)
  execution.changedAt = tx.now
  tx.put(execution)
  const effect = by === 'order' ? IN_LINE : undefined
  tx.emit('execution_replayed', execution, { reason: request.reason, by: request.by, effect })
}

/**
 * Ends the lease of a holder that waits for its dependencies; its attempt continues later. The caller counts and puts
 * it.
 */
export function park(tx: Tx, execution: Execution): void {
  leaveLease(tx, execution, 'parked', undefined)
  execution.refusals = undefined
  execution.next = 'continue'
  block(tx, execution, 'dependencies')
}

export interface Suspension {
  /** The kind and name of the step that the execution waits in. */
  readonly step: string
  readonly name: string
  readonly reason: string
  readonly until: Instant | undefined
  readonly remindAt: Instant | undefined
}

/** Ends the lease of a holder that waits for a signal or a time. The same attempt continues afterwards. */
export function suspend(tx: Tx, execution: Execution, suspension: Suspension): void {
  const before = bucketOf(execution)
  const { step, reason, until, remindAt } = suspension
  leaveLease(tx, execution, 'suspended', until)
  execution.refusals = undefined
  execution.state = { phase: 'suspended', step, reason, until, remindAt }
  execution.next = 'continue'
  execution.changedAt = tx.now
  tx.put(execution)
  tx.emit('execution_suspended', execution, {
    ...holderDetail(execution),
    step: suspension.name,
    reason,
    until,
  })
  if (execution.member !== undefined) countChange(tx, execution, before)
}

export interface Resumption {
  readonly step: string
  readonly cause: string
  readonly by: string | undefined
  readonly delayMs: number
}

/** Resumes a suspended execution, at once or after a delay. */
export function resume(tx: Tx, execution: Execution, resumption: Resumption): void {
  const before = bucketOf(execution)
  const until = resumption.delayMs > 0 ? tx.now + resumption.delayMs : undefined
  execution.state = until === undefined ? readyState(tx, execution) : { phase: 'delayed', until, cause: 'resume' }
  execution.changedAt = tx.now
  tx.put(execution)
  tx.emit('execution_resumed', execution, {
    attempt: execution.attempt?.number,
    epoch: execution.epoch,
    step: resumption.step,
    reason: resumption.cause,
    by: resumption.by,
    until,
  })
  if (execution.member !== undefined) countChange(tx, execution, before)
}

export interface Stop {
  readonly outcome: Unwinding['outcome']
  readonly reason: string
  /** Absent for a deadline and for a failure. */
  readonly by: string | undefined
  /** The failure that the execution ends with. */
  readonly failure?: Failure | undefined
}

/**
 * Makes an execution with steps to undo claimable from any phase, so that its handler can undo them. Its wait ends without
 * an answer. The caller counts it.
 */
export function wakeToUnwind(tx: Tx, execution: Execution, stop: Stop, how: LeaseEnd): void {
  const state = execution.state
  leaveLease(tx, execution, how, undefined)
  closeJournal(tx, execution, stop.by, stop.reason)
  // Children of an execution that failed run on.
  if (stop.outcome !== 'failed') oweAllCancels(execution.journal, tx.now)
  if (state.phase === 'active') execution.next = 'continue'
  execution.refusals = undefined
  execution.state = { phase: 'eligible' }
  execution.changedAt = tx.now
  beginUnwinding(tx, execution, stop, undefined)
}

/** The `effect` of the event of an execution whose holder keeps its lease to undo its steps. */
export const UNDER_LEASE = 'under_lease'

/** Lets the holder of an execution undo its steps under its lease. The attempt timeout no longer applies. */
export function unwindUnderLease(tx: Tx, execution: Execution, stop: Stop): void {
  const state = execution.state
  if (state.phase !== 'active') return tx.fault('an execution without a lease undoes its steps under it', execution.id)
  if (execution.attempt !== undefined) {
    execution.attempt.usedMs = execution.attempt.usedMs + Math.max(0, tx.now - state.runningSince)
  }
  state.runningSince = tx.now
  state.timeoutAt = undefined
  beginUnwinding(tx, execution, stop, UNDER_LEASE)
}

function beginUnwinding(tx: Tx, execution: Execution, stop: Stop, effect: string | undefined): void {
  const { outcome, reason, by, failure } = stop
  const until = tx.now + COMPENSATION_WAIT_MS
  execution.unwinding = {
    outcome,
    reason,
    by,
    at: tx.now,
    until,
    leftMs: execution.compensationTimeoutMs ?? COMPENSATION_TIMEOUT_DEFAULT_MS,
    failure,
    undoFailure: undefined,
    incompleteRuns: undefined,
  }
  tx.put(execution)
  tx.emit('execution_unwinding', execution, { ...holderDetail(execution), reason, by, until, outcome, effect })
}

/**
 * Gives an execution to a worker: a new epoch, and a new attempt unless a parked one continues. Without a permit of each of
 * its limits, what changes is kept, so that a refused permit undoes it. The caller counts it.
 */
export function activate(tx: Tx, execution: Execution, lease: Lease, isAdmitted = true): void {
  const previous = execution.attempt
  const next = execution.next
  const unadmitted = isAdmitted ? undefined : claimedFrom(execution)
  execution.epoch = execution.epoch + 1
  if (previous !== undefined && next === 'continue') {
    previous.workerId = lease.workerId
    previous.workerInstanceId = lease.workerInstanceId
  } else {
    // The cause of an earlier resume does not apply to a new attempt.
    if (execution.journal !== undefined) execution.journal.resumed = undefined
    execution.attempt = {
      number: (previous?.number ?? 0) + 1,
      kind: next === 'continue' ? 'initial' : next,
      startedAt: tx.now,
      usedMs: 0,
      workerId: lease.workerId,
      workerInstanceId: lease.workerInstanceId,
    }
  }
  execution.state = {
    phase: 'active',
    lease,
    timeoutAt: timeoutFrom(execution, tx.now),
    cancel: undefined,
    runningSince: tx.now,
    unadmitted,
  }
  execution.passes = undefined
  execution.lastLease = undefined
  execution.changedAt = tx.now
  execution.startedAt = execution.startedAt ?? tx.now
  tx.put(execution)
  tx.emit('attempt_started', execution, holderDetail(execution))
}

function claimedFrom({ attempt, startedAt, passes }: Execution): Unadmitted {
  return { attempt: attempt === undefined ? undefined : { ...attempt }, startedAt, passes }
}

/** Blocks a claimable execution behind a gate. Its place among the others stays the same. The caller puts the gate. */
export function blockBehindGate(tx: Tx, execution: Execution, gateId: string): void {
  const before = bucketOf(execution)
  execution.state = { phase: 'blocked', by: 'limit', gate: gateId }
  execution.passes = passesWithout(execution.passes, gateId)
  execution.changedAt = tx.now
  tx.put(execution)
  tx.emit('execution_blocked', execution, { reason: 'limit' })
  if (execution.member !== undefined) countChange(tx, execution, before)
}

/**
 * Ends the lease of a holder that got no permit, and blocks the execution behind a gate. The claim is undone but for the
 * epoch: no attempt is used, and no time counts. The caller puts the gate.
 */
export function blockUnadmitted(tx: Tx, execution: Execution, gateId: string): void {
  const state = execution.state
  if (state.phase !== 'active') return tx.fault('an execution without a lease was refused a permit', execution.id)
  const before = bucketOf(execution)
  const { attempt, startedAt, passes } = state.unadmitted ?? claimedFrom(execution)
  const detail = holderDetail(execution)
  state.runningSince = tx.now
  leaveLease(tx, execution, 'blocked', undefined)
  execution.attempt = attempt === undefined ? undefined : { ...attempt }
  execution.startedAt = startedAt
  execution.state = { phase: 'blocked', by: 'limit', gate: gateId }
  execution.passes = passesWithout(passes, gateId)
  execution.changedAt = tx.now
  tx.put(execution)
  tx.emit('execution_blocked', execution, { ...detail, reason: 'limit' })
  if (execution.member !== undefined) countChange(tx, execution, before)
}

function passesWithout(passes: readonly string[] | undefined, gateId: string): readonly string[] | undefined {
  const kept = (passes ?? []).filter((pass) => pass !== gateId)
  return kept.length === 0 ? undefined : kept
}

/** Makes an execution claimable that a gate releases. The gate does not block it again before it was leased. */
export function passGate(tx: Tx, execution: Execution, gateId: string): void {
  execution.passes = (passesWithout(execution.passes, gateId) ?? []).concat([gateId])
  makeEligible(tx, execution, { next: execution.next, event: 'execution_unblocked' })
}

/** Returns when an attempt that has been running since an instant times out. */
export function timeoutFrom(execution: Execution, runningSince: Instant): Instant | undefined {
  // The running time of a handler that undoes its steps has a limit of its own.
  if (execution.unwinding !== undefined) return undefined
  const timeoutMs = execution.attemptTimeoutMs
  return timeoutMs === undefined ? undefined : runningSince + timeoutMs - (execution.attempt?.usedMs ?? 0)
}

export interface Ending {
  readonly outcome: Outcome
  /** How the lease ended, if one was held. */
  readonly how: LeaseEnd
  readonly reason: string | undefined
  readonly by: string | undefined
  readonly failure: Failure | undefined
  /** The outcome in the history of an attempt that was still open. A completed attempt needs no record. */
  readonly attemptOutcome: AttemptOutcome | undefined
}

/** Whether an attempt has started and not ended: it is running, or it was parked and would continue. */
function hasOpenAttempt(execution: Execution): boolean {
  if (execution.attempt === undefined || execution.state.phase === 'ended') return false
  return execution.state.phase === 'active' || execution.next === 'continue'
}

/** An execution that undoes its steps ends with the outcome of its stop, whatever ends it. */
function endingAfterUndo(execution: Execution, given: Ending): Ending {
  const stop = execution.unwinding
  if (stop === undefined) return given
  const { outcome, reason, by } = stop
  if (given.failure !== undefined) execution.unwinding = { ...stop, undoFailure: given.failure }
  return {
    outcome,
    how: given.how,
    reason,
    by,
    failure: stop.failure ?? given.failure,
    attemptOutcome: outcome === 'skipped' ? 'cancelled' : outcome,
  }
}

/** Enters the last phase: closes the lease, the attempt and the journal. The caller updates the flow. */
export function enterEnded(tx: Tx, execution: Execution, given: Ending): void {
  const ending = endingAfterUndo(execution, given)
  if (ending.attemptOutcome !== undefined && hasOpenAttempt(execution)) {
    recordAttempt(tx, execution, { outcome: ending.attemptOutcome, endedAt: tx.now, failure: ending.failure })
  }
  leaveLease(tx, execution, ending.how, undefined)
  closeJournal(tx, execution, ending.by, ending.reason)
  // Children of an execution that completed or failed run on.
  if (ending.outcome !== 'completed' && ending.outcome !== 'failed') oweAllCancels(execution.journal, tx.now)
  execution.state = { phase: 'ended', outcome: ending.outcome, at: tx.now, reason: ending.reason, by: ending.by }
  execution.changedAt = tx.now
  execution.failure = ending.failure
  tx.put(execution)
  tx.emit('execution_ended', execution, {
    ...holderDetail(execution),
    outcome: ending.outcome,
    reason: ending.reason,
    by: ending.by,
    category: ending.failure?.category,
  })
}
