/** Finds steps in the journal of an execution. */
import { WAIT_READ_COUNT } from '../limits.ts'
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

/**
 * Reads the steps that the next executions of a loop wait in; the loop stops one execution after the other, and calls this for each.
 * Without it, a remote store would load the steps one by one, and refuse the operation after too many loads.
 */
export function readWaitsAhead(tx: Tx, executionIds: readonly string[], position: number): void {
  if (position % WAIT_READ_COUNT !== 0) return
  const stepIds: string[] = []
  for (const execution of tx.getMany('execution', executionIds.slice(position, position + WAIT_READ_COUNT))) {
    const id = currentStepId(execution)
    if (id !== undefined) stepIds.push(id)
  }
  if (stepIds.length > 0) tx.getMany('step', stepIds)
}

/** Returns a recorded step, including one that a replay has cut. */
export function findStep(tx: Tx, execution: Execution, kind: StepKind, name: string): Step | undefined {
  const journal = execution.journal
  if (journal === undefined) return undefined
  return tx.get('step', stepIdIn(scopeOf(execution.id, journal), stepKey(kind, name)))
}
