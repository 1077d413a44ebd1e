/** Closes the waits of an execution that ends. */
import type { Step, WaitEnd } from '../model/journal-schema.ts'
import type { Execution } from '../model/records.ts'
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
