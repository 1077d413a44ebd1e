import { endCancelled } from '../../lifecycle/endings/end-execution.ts'
import type { DueCase } from './due-case.ts'

/** Ends a running execution whose holder has not reacted to a cancel request within the grace. */
export const cancelGrace: DueCase = {
  name: 'cancel_grace',
  isDue: (execution, now) => {
    const state = execution.state
    return state.phase === 'active' && state.cancel !== undefined && state.cancel.forceAt <= now
  },
  run: (tx, execution) => {
    const state = execution.state
    if (state.phase === 'active' && state.cancel !== undefined) {
      endCancelled(tx, execution, state.cancel)
    }
  },
}
