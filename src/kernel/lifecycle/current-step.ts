/** The step that a suspended execution waits in. */
import type { Step } from '../model/journal-records.ts'
import type { Execution } from '../model/records.ts'
import type { Tx } from '../tx.ts'
import { scopeOf, stepIdIn } from '../rules/journal-ids.ts'

export function currentStep(tx: Tx, execution: Execution): Step | undefined {
  const id = currentStepId(execution)
  if (id === undefined) return undefined
  return tx.get('step', id) ?? tx.fault('an execution waits in a step that does not exist', execution.id)
}

export function currentStepId(execution: Execution): string | undefined {
  const state = execution.state
  return state.phase === 'suspended' ? stepIdIn(scopeOf(execution.id, execution.journal), state.step) : undefined
}
