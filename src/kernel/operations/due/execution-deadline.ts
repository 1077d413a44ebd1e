import { endExecution } from '../../lifecycle/endings/end-execution.ts'
import { isPastDeadline } from '../../rules/execution-state.ts'
import type { DueCase } from './due-case.ts'

/** Ends an execution at its total deadline, in any phase and with any retries left. */
export const executionDeadline: DueCase = {
  name: 'execution_deadline',
  isDue: isPastDeadline,
  run: (tx, execution) =>
    endExecution(tx, execution, {
      outcome: 'expired',
      how: 'expired',
      reason: 'execution_deadline',
      by: undefined,
      failure: {
        category: 'deadline',
        message: 'the execution did not end before its deadline',
        stack: undefined,
        at: tx.now,
      },
      attemptOutcome: 'expired',
    }),
}
