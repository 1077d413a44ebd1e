import { stopExecution } from '../../lifecycle/endings/end-execution.ts'
import type { Failure } from '../../model/records.ts'
import { isPastDeadline } from '../../rules/execution-state.ts'
import type { DueCase } from './due-case.ts'

/**
 * Stops an execution at its total deadline, in any phase and with any retries left. With completed steps its handler
 * may undo them first.
 */
export const executionDeadline: DueCase = {
  name: 'execution_deadline',
  isDue: isPastDeadline,
  run: (tx, execution) => {
    const failure: Failure = {
      category: 'deadline',
      message: 'the execution did not end before its deadline',
      stack: undefined,
      at: tx.now,
    }
    stopExecution(
      tx,
      execution,
      { outcome: 'expired', reason: 'execution_deadline', by: undefined, failure },
      'expired',
    )
  },
}
