/** One helper per phase owns entering it: its fields, its timers, its event. Nobody else writes a phase. */
import { recordAttempt } from './attempts.ts'
import type { EventType } from './events.ts'
import type {
  AttemptOutcome,
  DelayCause,
  Execution,
  Failure,
  Instant,
  Lease,
  LeaseEnd,
  NextAttempt,
  Outcome,
} from './records.ts'
import type { Tx } from './tx.ts'

/** Leaves an active phase: the time run counts against the attempt's timeout, and how the lease ended is remembered. */
function leaveLease(tx: Tx, execution: Execution, how: LeaseEnd, until: Instant | undefined): void {
  const state = execution.state
  if (state.phase !== 'active') return
  if (execution.attempt !== undefined) {
    execution.attempt.usedMs = execution.attempt.usedMs + Math.max(0, tx.now - state.runningSince)
  }
  execution.lastLease = { id: state.lease.id, epoch: execution.epoch, how, until }
}

export interface Requeue {
  readonly next: NextAttempt
  readonly event: EventType
  /** How the lease ended, if one was held. */
  readonly how?: LeaseEnd | undefined
  readonly reason?: string | undefined
  readonly by?: string | undefined
}

/** Puts an execution where the next claim finds it. */
export function makeEligible(tx: Tx, execution: Execution, requeue: Requeue): void {
  if (requeue.how !== undefined) leaveLease(tx, execution, requeue.how, undefined)
  execution.state = { phase: 'eligible' }
  execution.next = requeue.next
  execution.changedAt = tx.now
  tx.put(execution)
  tx.emit(requeue.event, execution, {
    attempt: execution.attempt?.number,
    epoch: execution.epoch,
    workerId: execution.attempt?.workerId,
    workerInstanceId: execution.attempt?.workerInstanceId,
    reason: requeue.reason,
    by: requeue.by,
  })
}

/** Parks an execution until a time; the due pass or a claim brings it back. A time that has come already is no delay. */
export function delayExecutionUntil(
  tx: Tx,
  execution: Execution,
  until: Instant,
  cause: DelayCause,
  how: LeaseEnd,
  event: EventType,
  failure: Failure | undefined,
): void {
  leaveLease(tx, execution, how, until)
  execution.state = until > tx.now ? { phase: 'delayed', until, cause } : { phase: 'eligible' }
  execution.next = cause === 'retry' ? 'retry' : 'continue'
  execution.changedAt = tx.now
  tx.put(execution)
  tx.emit(event, execution, {
    attempt: execution.attempt?.number,
    epoch: execution.epoch,
    workerId: execution.attempt?.workerId,
    workerInstanceId: execution.attempt?.workerInstanceId,
    until,
    reason: failure?.message,
    category: failure?.category,
  })
}

/** Gives an execution to a worker: a new epoch, and a new attempt unless it goes on with one that was parked. */
export function activate(tx: Tx, execution: Execution, lease: Lease): void {
  const previous = execution.attempt
  const next = execution.next
  execution.epoch = execution.epoch + 1
  if (previous !== undefined && next === 'continue') {
    previous.workerId = lease.workerId
    previous.workerInstanceId = lease.workerInstanceId
  } else {
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
  }
  execution.lastLease = undefined
  execution.changedAt = tx.now
  execution.startedAt = execution.startedAt ?? tx.now
  tx.put(execution)
  tx.emit('attempt_started', execution, {
    attempt: execution.attempt?.number,
    epoch: execution.epoch,
    workerId: lease.workerId,
    workerInstanceId: lease.workerInstanceId,
  })
}

/** When an attempt that runs from a moment on is out of time. */
export function timeoutFrom(execution: Execution, runningSince: Instant): Instant | undefined {
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
  /** What history says of an attempt that was still open. A completed one needs no record. */
  readonly attemptOutcome: AttemptOutcome | undefined
}

/** Whether an attempt was begun and has not come to an end: it runs, or it was parked and would be continued. */
function hasOpenAttempt(execution: Execution): boolean {
  if (execution.attempt === undefined || execution.state.phase === 'ended') return false
  return execution.state.phase === 'active' || execution.next === 'continue'
}

/** The last phase. Said for any other phase: closes the lease and the attempt, and leaves only the retention to run. */
export function endExecution(tx: Tx, execution: Execution, ending: Ending): void {
  if (ending.attemptOutcome !== undefined && hasOpenAttempt(execution)) {
    recordAttempt(tx, execution, ending.attemptOutcome, tx.now, ending.failure)
  }
  leaveLease(tx, execution, ending.how, undefined)
  execution.state = { phase: 'ended', outcome: ending.outcome, at: tx.now, reason: ending.reason, by: ending.by }
  execution.changedAt = tx.now
  execution.failure = ending.failure
  tx.put(execution)
  tx.emit('execution_ended', execution, {
    attempt: execution.attempt?.number,
    epoch: execution.epoch,
    workerId: execution.attempt?.workerId,
    workerInstanceId: execution.attempt?.workerInstanceId,
    outcome: ending.outcome,
    reason: ending.reason,
    by: ending.by,
    category: ending.failure?.category,
  })
}

/** Ends an execution as cancelled, from any phase that is not the last. */
export function endCancelled(tx: Tx, execution: Execution, reason: string, by: string, how: LeaseEnd): void {
  endExecution(tx, execution, {
    outcome: 'cancelled',
    how,
    reason,
    by,
    failure: undefined,
    attemptOutcome: 'cancelled',
  })
}
