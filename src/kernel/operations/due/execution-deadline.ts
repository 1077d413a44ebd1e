import { stopExecution } from '../../lifecycle/endings/end-execution.ts'
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
    stopExecution(tx, execution, { outcome: 'expired', reason: 'execution_deadline', by: undefined }, 'expired')
  },
}
