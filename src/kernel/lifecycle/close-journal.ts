/** What the end of an execution means for what it waited for. */
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
    step.state = { phase: 'closed', at: tx.now, how: 'ended', by, reason }
    tx.put(step)
  }
  journal.open = []
}
