/** Resumes a suspended execution by an operator, from any wait. */
import type { ExecutionId } from '../../model/records.ts'
import { refused, refusedFor } from '../../results.ts'
import type { Refused } from '../../results.ts'
import { publicState } from '../../model/public-state.ts'
import type { PublicState } from '../../model/public-state.ts'
import type { Tx } from '../../tx.ts'
import { currentStep } from '../../lifecycle/find-step.ts'
import { resumeFrom } from '../../lifecycle/journal/end-wait.ts'

export interface ResumeInput {
  readonly executionId: ExecutionId
  readonly by: string
  readonly reason?: string | undefined
  /** The name of the wait to end; if absent, any. */
  readonly step?: string | undefined
}

export type ResumeResult =
  | { readonly kind: 'resumed'; readonly step: string; readonly state: PublicState }
  | Refused<'execution_not_found' | 'execution_not_suspended' | 'waits_elsewhere'>

export function resumeExecution(tx: Tx, input: ResumeInput): ResumeResult {
  const execution = tx.get('execution', input.executionId)
  if (execution === undefined) return refused('execution_not_found', { executionId: input.executionId })
  const step = currentStep(tx, execution)
  if (step === undefined) return refusedFor('execution_not_suspended', execution)
  if (input.step !== undefined && input.step !== step.name) {
    return refused('waits_elsewhere', { executionId: execution.id, step: step.name })
  }

  const cause = step.state.phase === 'open' ? 'operator' : 'step_retry'
  resumeFrom(tx, execution, step, { how: 'operator', cause, by: input.by, reason: input.reason })
  return { kind: 'resumed', step: step.name, state: publicState(execution.state) }
}
