/** Skips a member whose condition is not met, at the request of its holder. Idempotent per fence. */
import { cancelIfRequested } from '../../lifecycle/endings/pending-cancel.ts'
import { leaseEnded, refuseUnlessHeld } from '../../lifecycle/fence.ts'
import type { LeaseRefusal } from '../../lifecycle/fence.ts'
import { flowOf, putFlow, shiftCount } from '../../lifecycle/flow-counts.ts'
import { followEnds, skipByCondition } from '../../lifecycle/flows/resolve-edges.ts'
import type { ExecutionId, Fence, FlowId } from '../../model/records.ts'
import { refused } from '../../results.ts'
import type { Refused } from '../../results.ts'
import { bucketOf } from '../../rules/flow-state.ts'
import type { Tx } from '../../tx.ts'

export interface SkipInput {
  readonly executionId: ExecutionId
  readonly fence: Fence
  /** Its flow, from the claim, so that a remote store loads both in one round trip. */
  readonly flowId?: FlowId | undefined
}

export type SkipResult =
  | { readonly kind: 'skipped' | 'already_skipped' }
  | { readonly kind: 'cancelled' | 'already_cancelled' }
  /** It is to undo its steps, so it is not skipped. The lease is kept. */
  | { readonly kind: 'unwinding' }
  | LeaseRefusal
  | Refused<'execution_not_found' | 'execution_not_in_flow' | 'invalid_input'>

export function skipExecution(tx: Tx, input: SkipInput): SkipResult {
  const execution = tx.get('execution', input.executionId)
  if (execution === undefined) return refused('execution_not_found', { executionId: input.executionId })
  if (leaseEnded(execution, input.fence, 'skipped')) return { kind: 'already_skipped' }
  if (leaseEnded(execution, input.fence, 'cancelled')) return { kind: 'already_cancelled' }
  const refusal = refuseUnlessHeld(tx, execution, input.fence)
  if (refusal !== undefined) return refusal
  const flow = flowOf(tx, execution)
  if (flow === undefined) return refused('execution_not_in_flow', { executionId: execution.id })
  // A member that waits for others that it has added has run, so its condition was met, also if they have failed.
  const { hasCondition, group } = execution.member ?? {}
  const isWaiting = group !== undefined && group.total > 0 && group.verdict !== 'satisfied'
  if (hasCondition !== true || isWaiting) {
    return refused('invalid_input', { executionId: execution.id })
  }

  if (cancelIfRequested(tx, execution) !== undefined) return { kind: 'cancelled' }
  if (execution.unwinding !== undefined) return { kind: 'unwinding' }
  const before = bucketOf(execution)
  const hasEnded = skipByCondition(tx, execution)
  shiftCount(tx, flow, execution, before)
  if (hasEnded) followEnds(tx, flow, [execution])
  putFlow(tx, flow)
  return { kind: 'skipped' }
}
