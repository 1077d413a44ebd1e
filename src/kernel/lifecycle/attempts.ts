/** The history of attempts. A completed attempt has no record of its own: it is part of the execution's record. */
import { expectAbsent } from './expect-absent.ts'
import { ATTEMPT_HISTORY_MAX } from '../limits.ts'
import type { Attempt, AttemptOutcome, Execution, Failure, Instant } from '../model/records.ts'
import { joinName } from '../model/names.ts'
import type { Tx } from '../tx.ts'

export function attemptId(executionId: string, attempt: number): string {
  return joinName(executionId, String(attempt))
}

export interface AttemptEnd {
  readonly outcome: AttemptOutcome
  readonly endedAt: Instant
  readonly failure: Failure | undefined
}

/** Returns the record of the current attempt as the history stores it. */
export function attemptRecord(execution: Execution, end: AttemptEnd): Attempt | undefined {
  const attempt = execution.attempt
  if (attempt === undefined) return undefined
  return {
    type: 'attempt',
    id: attemptId(execution.id, attempt.number),
    executionId: execution.id,
    number: attempt.number,
    kind: attempt.kind,
    startedAt: attempt.startedAt,
    endedAt: end.endedAt,
    epoch: execution.epoch,
    workerId: attempt.workerId,
    workerInstanceId: attempt.workerInstanceId,
    outcome: end.outcome,
    failure: end.failure,
  }
}

/** Writes the current attempt to the history, and removes the one beyond its limit. The caller puts the execution. */
export function recordAttempt(tx: Tx, execution: Execution, end: AttemptEnd): void {
  const record = attemptRecord(execution, end)
  if (record === undefined) return
  expectAbsent(tx, 'attempt', record.id)
  tx.put(record)
  const number = record.number - ATTEMPT_HISTORY_MAX
  if (number <= 0) return
  const dropped = attemptId(execution.id, number)
  if (tx.has('attempt', dropped)) tx.remove('attempt', dropped)
}
