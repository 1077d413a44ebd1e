/** Completes an execution whose lease is still valid. Idempotent per fence. */
import { resultKey } from '../../model/blob-keys.ts'
import { claimForWorker, recoverClaim } from './claim-for-worker.ts'
import type { ClaimInput, ClaimResult } from './claim-for-worker.ts'
import type { BlobInput, Tx } from '../../tx.ts'
import type { ParentRef } from '../../lifecycle/children/child-records.ts'
import { hasUnwound, leaseEnded, refuseUnlessHeld } from '../../lifecycle/fence.ts'
import type { LeaseRefusal } from '../../lifecycle/fence.ts'
import { endExecution, endUnwound } from '../../lifecycle/endings/end-execution.ts'
import type { ExecutionId, Fence, FlowId } from '../../model/records.ts'
import { refused } from '../../results.ts'
import type { Refused } from '../../results.ts'

export interface CompleteInput {
  readonly executionId: ExecutionId
  readonly fence: Fence
  readonly result?: BlobInput | undefined
  /** The flow of the execution, from its claim, so that a remote store loads both in one round trip. */
  readonly flowId?: FlowId | undefined
  /** The parent of the execution, from its claim, for the same reason. */
  readonly parent?: ParentRef | undefined
  /** What to claim in the same step. */
  readonly next?: ClaimInput | undefined
}

export type CompleteResult =
  | { readonly kind: 'completed' | 'already_completed'; readonly next: ClaimResult | undefined }
  /** The handler has undone its steps: the execution is cancelled or expired, and the result is not stored. */
  | { readonly kind: 'unwound' | 'already_unwound'; readonly next: ClaimResult | undefined }
  | LeaseRefusal
  | Refused<'execution_not_found'>

export function completeExecution(tx: Tx, input: CompleteInput): CompleteResult {
  const execution = tx.get('execution', input.executionId)
  if (execution === undefined) return refused('execution_not_found', { executionId: input.executionId })
  const isUnwound = hasUnwound(execution, input.fence)
  if (isUnwound || leaseEnded(execution, input.fence, 'completed')) {
    // Claims nothing new: the search for the executions of the lost reply uses an index without a guard.
    const next = input.next === undefined ? undefined : recoverClaim(tx, input.next)
    return { kind: isUnwound ? 'already_unwound' : 'already_completed', next }
  }
  const refusal = refuseUnlessHeld(tx, execution, input.fence)
  if (refusal !== undefined) return refusal

  if (execution.unwinding !== undefined) {
    endUnwound(tx, execution, undefined)
    return { kind: 'unwound', next: input.next === undefined ? undefined : claimForWorker(tx, input.next) }
  }
  // The result of an earlier run was kept for members that had not started.
  if (execution.member !== undefined && execution.replayCount > 0) tx.forget(resultKey(execution.id))
  if (input.result !== undefined) {
    execution.result = { size: input.result.size, encoding: input.result.encoding }
    tx.keep(resultKey(execution.id), input.result.blob)
  }
  endExecution(tx, execution, {
    outcome: 'completed',
    how: 'completed',
    reason: undefined,
    by: undefined,
    failure: undefined,
    attemptOutcome: undefined,
  })
  return { kind: 'completed', next: input.next === undefined ? undefined : claimForWorker(tx, input.next) }
}
