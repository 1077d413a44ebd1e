/** Finds steps in the journal of an execution. */
import type { Step, StepKind } from '../model/journal-schema.ts'
import type { Execution } from '../model/records.ts'
import type { Tx } from '../tx.ts'
import { scopeOf, stepIdIn, stepKey } from '../rules/journal-ids.ts'

/** Returns the step that a suspended execution waits in. */
export function currentStep(tx: Tx, execution: Execution): Step | undefined {
  const id = currentStepId(execution)
  if (id === undefined) return undefined
  return tx.get('step', id) ?? tx.fault('an execution waits in a step that does not exist', execution.id)
}

export function currentStepId(execution: Execution): string | undefined {
  const state = execution.state
  return state.phase === 'suspended' ? stepIdIn(scopeOf(execution.id, execution.journal), state.step) : undefined
}

/** Returns a recorded step, including one that a replay has cut. */
export function findStep(tx: Tx, execution: Execution, kind: StepKind, name: string): Step | undefined {
  const journal = execution.journal
  if (journal === undefined) return undefined
  return tx.get('step', stepIdIn(scopeOf(execution.id, journal), stepKey(kind, name)))
}
