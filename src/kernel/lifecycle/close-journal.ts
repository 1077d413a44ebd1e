/** Closes the steps that wait: of an execution that ends, for a signal or a time, for children. */
import type { Step, WaitEnd } from '../model/journal-schema.ts'
import type { Execution, Failure } from '../model/records.ts'
import type { Tx } from '../tx.ts'
import { currentStep } from './find-step.ts'

/**
 * Closes the wait of an execution that is about to end, and all its open waitpoints. Closing is no answer: a replay
 * waits again. Call before the state changes. The caller puts the execution.
 */
export function closeJournal(tx: Tx, execution: Execution, by: string | undefined, reason: string | undefined): void {
  const journal = execution.journal
  if (journal === undefined) return
  const step = currentStep(tx, execution)
  if (step?.state.phase === 'open') {
    closeStep(tx, step, 'ended', { by, reason })
  }
  journal.open = []
}

/** Closes and puts a wait. The only writer of step states. */
export function closeStep(tx: Tx, step: Step, how: WaitEnd, cause: Pick<ClosedStep, 'by' | 'reason'>): void {
  step.state = { phase: 'closed', at: tx.now, how, by: cause.by, reason: cause.reason }
  tx.put(step)
}

type ClosedStep = Extract<Step['state'], { phase: 'closed' }>

/** Closes and puts a join that has a verdict. */
export function closeJoin(tx: Tx, step: Step): void {
  closeStep(tx, step, 'satisfied', { by: undefined, reason: undefined })
}

/** Closes and puts the step of a child that has ended. The result of the child stays where it is. */
export function settleChild(tx: Tx, step: Step, child: Execution): void {
  const link = step.child
  if (link === undefined || child.state.phase !== 'ended')
    return tx.fault('the step of a child is closed before the child has ended', child.id)
  const outcome = child.state.outcome
  link.outcome = outcome
  step.state =
    outcome === 'completed'
      ? { phase: 'completed', at: tx.now, value: child.result }
      : { phase: 'failed', at: tx.now, round: link.round, failure: failureOf(child.failure, child.state, tx.now) }
  tx.put(step)
}

/** The parent gets the failure without its stack, because it may have thousands of children. */
function failureOf(failure: Failure | undefined, end: EndedState, at: number): Failure {
  const { outcome, reason } = end
  const message = failure?.message ?? reason ?? `the child ended as ${outcome}`
  return { category: failure?.category ?? outcome, message, stack: undefined, at }
}

type EndedState = Extract<Execution['state'], { phase: 'ended' }>
