import { stopAtDeadline } from '../../lifecycle/endings/end-execution.ts'
import { isPastDeadline } from '../../rules/execution-state.ts'
import type { DueCase } from './due-case.ts'

export const executionDeadline: DueCase = {
  name: 'execution_deadline',
  isDue: isPastDeadline,
  run: stopAtDeadline,
}
