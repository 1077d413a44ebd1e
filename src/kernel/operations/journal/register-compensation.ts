/**
 * Stores how many compensations the handler of an execution has registered. The functions stay in the handler, which registers
 * them again in every run. The number is stored before a step can follow, so that an execution whose holder is dead is still
 * known to have steps to undo, and a later run can tell whether it has registered all of them. Idempotent.
 */
import { refuseUnlessHeld } from '../../lifecycle/fence.ts'
import type { LeaseRefusal } from '../../lifecycle/fence.ts'
import { giveTimeToUndo } from '../../lifecycle/cancel-request.ts'
import { COMPENSATION_MAX } from '../../limits.ts'
import type { ExecutionId, Fence } from '../../model/records.ts'
import { refused } from '../../results.ts'
import type { Refused } from '../../results.ts'
import { hasStepsToUndo } from '../../rules/execution-state.ts'
import { journalOf } from '../../rules/journal-ids.ts'
import type { Tx } from '../../tx.ts'

export interface RegisterCompensationInput {
  readonly executionId: ExecutionId
  readonly fence: Fence
  /** How many this run has registered, this one included. */
  readonly count: number
}

export type RegisterCompensationResult =
  | { readonly kind: 'registered' | 'already_registered' }
  | LeaseRefusal
  | Refused<'execution_not_found' | 'step_limit_exceeded'>

export function registerCompensation(tx: Tx, input: RegisterCompensationInput): RegisterCompensationResult {
  const execution = tx.get('execution', input.executionId)
  if (execution === undefined) return refused('execution_not_found', { executionId: input.executionId })
  const refusal = refuseUnlessHeld(tx, execution, input.fence)
  if (refusal !== undefined) return refusal
  if ((execution.journal?.compensationCount ?? 0) >= input.count) return { kind: 'already_registered' }
  if (input.count > COMPENSATION_MAX) {
    return refused('step_limit_exceeded', { executionId: execution.id, limit: COMPENSATION_MAX })
  }

  const isFirst = !hasStepsToUndo(execution)
  journalOf(execution).compensationCount = input.count
  if (isFirst) giveTimeToUndo(tx, execution)
  tx.put(execution)
  return { kind: 'registered' }
}
