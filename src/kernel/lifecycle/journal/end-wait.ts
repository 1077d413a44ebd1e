/** Ends waits and resumes their executions. */
import type { ResumeCause, Step, WaitEnd } from '../../model/journal-schema.ts'
import { closeStep } from '../close-journal.ts'
import { resume } from '../phases.ts'
import type { Execution } from '../../model/records.ts'
import type { Tx } from '../../tx.ts'
import { isMailbox, journalOf, stepKey } from '../../rules/journal-ids.ts'
import { closeWaitpoints } from './waitpoint-records.ts'

export interface StepAnswer {
  readonly how: Exclude<WaitEnd, 'ended'>
  readonly by: string | undefined
  readonly reason: string | undefined
}

export interface Answer extends StepAnswer {
  readonly cause: ResumeCause
}

/** Closes an answered wait, and the waitpoints opened for it. Puts the step; the caller puts the execution. */
export function closeWait(tx: Tx, execution: Execution, step: Step, answer: StepAnswer): void {
  closeStep(tx, step, answer.how, answer)
  const own: string[] = []
  for (const target of step.wait?.targets ?? []) if (!isMailbox(target)) own.push(target)
  closeWaitpoints(tx, execution, { targets: own, reason: answer.how, answeredBy: stepKey(step.kind, step.name) })
}

/** Resumes a suspended execution. The same attempt continues when a worker claims it. */
export function resumeFrom(tx: Tx, execution: Execution, step: Step, answer: Answer): void {
  const journal = journalOf(execution)
  // A step that waits for its retry keeps its state.
  if (step.state.phase === 'open') closeWait(tx, execution, step, answer)
  journal.resumed = { step: step.name, cause: answer.cause }
  resume(tx, execution, {
    step: step.name,
    cause: answer.cause,
    by: answer.by,
    delayMs: answer.how === 'satisfied' ? (step.wait?.resumeDelayMs ?? 0) : 0,
  })
}
