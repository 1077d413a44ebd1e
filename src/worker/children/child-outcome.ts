/** Converts the record of an ended child into its result or its error. */
import type { ChildOutcome } from '../../client/define/children.ts'
import { ChildFailedError } from '../../client/define/errors.ts'
import { validate } from '../../client/define/validation.ts'
import { EngineError } from '../../kernel/engine-error.ts'
import { decodeHeld } from '../lease/held-value.ts'
import type { LeasedExecution } from '../lease/leased-execution.ts'
import type { KnownChild } from './known-child.ts'

/** Asynchronous because schemas may be. A result that does not fit the schema of this worker is an error of the handler. */
export async function outcomeOf(leased: LeasedExecution, { plan, ended }: KnownChild): Promise<ChildOutcome<unknown>> {
  const { name, task } = plan
  const child = ended?.step.child
  const state = ended?.step.state
  if (child === undefined || state === undefined) throw missing(name)
  if (state.phase === 'completed') {
    const value = decodeHeld(leased, state.value, ended?.value)
    return { ok: true, value: await validate(task.outputSchema, value, 'invalid_output', `the result of '${name}'`) }
  }
  const { outcome } = child
  if (state.phase !== 'failed' || outcome === undefined || outcome === 'completed') throw missing(name)
  const { category, message, stack } = state.failure
  const failed = { name, id: child.executionId, task: task.name }
  return { ok: false, error: new ChildFailedError(failed, { outcome, category, message, stack }) }
}

function missing(step: string): EngineError {
  return new EngineError('corruption', { step, message: `The record of child '${step}' does not tell how it ended.` })
}
