/** Releases an execution, as at shutdown: another worker continues the same attempt, which costs no retry. */
import { cancelIfRequested } from '../../lifecycle/endings/pending-cancel.ts'
import { leaseEnded, refuseUnlessHeld } from '../../lifecycle/fence.ts'
import type { LeaseRefusal } from '../../lifecycle/fence.ts'
import { makeEligible } from '../../lifecycle/phases.ts'
import type { ExecutionId, Fence } from '../../model/records.ts'
import { refused } from '../../results.ts'
import type { Refused } from '../../results.ts'
import type { Tx } from '../../tx.ts'

export interface ReleaseInput {
  readonly executionId: ExecutionId
  readonly fence: Fence
  readonly reason: string
  /** The handler has not started, so nothing counts against the attempt's timeout. */
  readonly isUnstarted?: boolean | undefined
}

export type ReleaseResult =
  | { readonly kind: 'released' | 'already_released' | 'cancelled' | 'already_cancelled' }
  | LeaseRefusal
  | Refused<'execution_not_found'>

export function releaseExecution(tx: Tx, input: ReleaseInput): ReleaseResult {
  const execution = tx.get('execution', input.executionId)
  if (execution === undefined) return refused('execution_not_found', { executionId: input.executionId })
  if (leaseEnded(execution, input.fence, 'released')) return { kind: 'already_released' }
  if (leaseEnded(execution, input.fence, 'cancelled')) return { kind: 'already_cancelled' }
  const refusal = refuseUnlessHeld(tx, execution, input.fence)
  if (refusal !== undefined) return refusal

  if (cancelIfRequested(tx, execution)) return { kind: 'cancelled' }
  const state = execution.state
  if (input.isUnstarted === true && state.phase === 'active') state.runningSince = tx.now
  makeEligible(tx, execution, { next: 'continue', how: 'released', event: 'execution_released', reason: input.reason })
  return { kind: 'released' }
}
