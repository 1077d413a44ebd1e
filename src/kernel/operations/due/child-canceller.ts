import { cancelChildren } from '../../lifecycle/endings/cancel-children.ts'
import type { DueCase } from './due-case.ts'

/** Cancels the children of an execution that was stopped, and the losers of its decided joins. */
export const childCanceller: DueCase = {
  name: 'child_canceller',
  isDue: (execution) => execution.journal?.childCancels !== undefined,
  run: cancelChildren,
}
