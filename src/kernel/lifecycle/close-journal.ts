/** What the end of an execution means for what it waited for. */
import type { Step, WaitEnd } from '../model/journal-schema.ts'
import type { Execution } from '../model/records.ts'
import type { Tx } from '../tx.ts'
import { currentStep } from './find-step.ts'

/**
 * Closes the wait of an execution that is about to end, and with it every place that signals could be sent to. It is no
 * answer: should the execution be replayed, it waits anew. Said before its state changes; the execution is put by the caller.
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
