import { journalOf, needsSweep } from '../../rules/journal-ids.ts'
import { sweepJournal } from '../../lifecycle/journal/sweep-journal.ts'
import type { DueCase } from './due-case.ts'

/** Removes steps that a replay has cut, and the remains of an execution that was replaced. */
export const journalSweeper: DueCase = {
  name: 'journal_sweeper',
  isDue: (execution) =>
    execution.state.phase !== 'ended' && execution.journal !== undefined && needsSweep(execution.journal),
  run: (tx, execution) => {
    sweepJournal(tx, execution, journalOf(execution))
    tx.put(execution)
  },
}
