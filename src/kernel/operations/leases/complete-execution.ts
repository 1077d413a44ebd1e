/** Ends an execution that its worker still holds. Said twice with one fence, it ends once. */
import { resultKey } from '../../model/blob-keys.ts'
import { claimForWorker, recoverClaim } from './claim-for-worker.ts'
import type { ClaimInput, ClaimResult } from './claim-for-worker.ts'
import type { BlobInput, Tx } from '../../tx.ts'
import { leaseEnded, refuseUnlessHeld } from '../../lifecycle/fence.ts'
import type { LeaseRefusal } from '../../lifecycle/fence.ts'
import { endExecution } from '../../lifecycle/endings/end-execution.ts'
import type { ExecutionId, Fence, FlowId } from '../../model/records.ts'
import { refused } from '../../results.ts'
import type { Refused } from '../../results.ts'

export interface CompleteInput {
  readonly executionId: ExecutionId
  readonly fence: Fence
  readonly result?: BlobInput | undefined
  /** The flow that it is a member of, as its claim said: what is read of it can then be fetched in one go. */
  readonly flowId?: FlowId | undefined
  /** What to claim in the same step, if anything. */
  readonly next?: ClaimInput | undefined
}

export type CompleteResult =
  | { readonly kind: 'completed' | 'already_completed'; readonly next: ClaimResult | undefined }
  | LeaseRefusal
  | Refused<'execution_not_found'>

export function completeExecution(tx: Tx, input: CompleteInput): CompleteResult {
  const execution = tx.get('execution', input.executionId)
  if (execution === undefined) return refused('execution_not_found', { executionId: input.executionId })
  if (leaseEnded(execution, input.fence, 'completed')) {
    // Nothing new is claimed: the search for what the lost reply had handed out is by an index without a guard.
    const next = input.next === undefined ? undefined : recoverClaim(tx, input.next)
    return { kind: 'already_completed', next }
  }
  const refusal = refuseUnlessHeld(tx, execution, input.fence)
  if (refusal !== undefined) return refusal

  // What an earlier run answered was kept until now for members that had not begun.
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
