/** Delays an execution at the request of its holder. The same attempt continues afterwards, under a new lease. */
import { cancelIfRequested } from '../../lifecycle/endings/pending-cancel.ts'
import { leaseEnded, refuseUnlessHeld } from '../../lifecycle/fence.ts'
import type { LeaseRefusal } from '../../lifecycle/fence.ts'
import { delayExecutionUntil } from '../../lifecycle/phases.ts'
import type { ExecutionId, Fence, Instant } from '../../model/records.ts'
import { refused } from '../../results.ts'
import type { Refused } from '../../results.ts'
import type { Tx } from '../../tx.ts'

export interface DelayInput {
  readonly executionId: ExecutionId
  readonly fence: Fence
  readonly delayMs: number
}

export type DelayResult =
  | { readonly kind: 'delayed' | 'already_delayed'; readonly until: Instant }
  | { readonly kind: 'cancelled' | 'already_cancelled' }
  | LeaseRefusal
  | Refused<'execution_not_found'>

export function delayExecution(tx: Tx, input: DelayInput): DelayResult {
  const execution = tx.get('execution', input.executionId)
  if (execution === undefined) return refused('execution_not_found', { executionId: input.executionId })
  if (leaseEnded(execution, input.fence, 'delayed')) {
    return { kind: 'already_delayed', until: execution.lastLease?.until ?? tx.now }
  }
  if (leaseEnded(execution, input.fence, 'cancelled')) return { kind: 'already_cancelled' }
  const refusal = refuseUnlessHeld(tx, execution, input.fence)
  if (refusal !== undefined) return refusal

  if (cancelIfRequested(tx, execution) !== undefined) return { kind: 'cancelled' }
  const until = tx.now + Math.max(0, input.delayMs)
  delayExecutionUntil(tx, execution, { until, cause: 'worker', how: 'delayed', event: 'execution_delayed' })
  return { kind: 'delayed', until }
}
