import { endUnwound } from '../../lifecycle/endings/end-execution.ts'
import { isPastUnwinding } from '../../rules/execution-state.ts'
import type { DueCase } from './due-case.ts'

/** Ends an execution that has not undone its steps in time, or that no worker has claimed for it. */
export const compensationTimeout: DueCase = {
  name: 'compensation_timeout',
  isDue: isPastUnwinding,
  run: (tx, execution) =>
    endUnwound(tx, execution, {
      category: 'compensation_timeout',
      message: 'the handler did not undo its steps in time',
      stack: undefined,
      at: tx.now,
    }),
}
