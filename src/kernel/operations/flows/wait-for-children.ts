/** Parks a holder until its dependencies have ended; its attempt continues then. Keeps the lease if none is pending. */
import { cancelIfRequested } from '../../lifecycle/endings/pending-cancel.ts'
import { leaseEnded, refuseUnlessHeld } from '../../lifecycle/fence.ts'
import type { LeaseRefusal } from '../../lifecycle/fence.ts'
import { park } from '../../lifecycle/phases.ts'
import type { ExecutionId, Fence } from '../../model/records.ts'
import { refused } from '../../results.ts'
import type { Refused } from '../../results.ts'
import type { Tx } from '../../tx.ts'
import { flowOf, putFlow, shiftCount } from '../../lifecycle/flow-counts.ts'
import { bucketOf } from '../../rules/flow-state.ts'
import { firstFailedUpstream } from '../../lifecycle/flows/inbound.ts'
import { followEnds, skipMember } from '../../lifecycle/flows/resolve-edges.ts'

export interface WaitForChildrenInput {
  readonly executionId: ExecutionId
  readonly fence: Fence
}

export type WaitForChildrenResult =
  | { readonly kind: 'parked' | 'already_parked' | 'not_blocked' | 'skipped' | 'already_skipped' }
  | { readonly kind: 'cancelled' | 'already_cancelled' }
  /** It is to undo its steps, so it neither waits nor is skipped. The lease is kept. */
  | { readonly kind: 'unwinding' }
  | LeaseRefusal
  | Refused<'execution_not_found' | 'execution_not_in_flow'>

export function waitForChildren(tx: Tx, input: WaitForChildrenInput): WaitForChildrenResult {
  const execution = tx.get('execution', input.executionId)
  if (execution === undefined) return refused('execution_not_found', { executionId: input.executionId })
  if (leaseEnded(execution, input.fence, 'parked')) return { kind: 'already_parked' }
  if (leaseEnded(execution, input.fence, 'skipped')) return { kind: 'already_skipped' }
  if (leaseEnded(execution, input.fence, 'cancelled')) return { kind: 'already_cancelled' }
  const refusal = refuseUnlessHeld(tx, execution, input.fence)
  if (refusal !== undefined) return refusal
  const flow = flowOf(tx, execution)
  if (flow === undefined) return refused('execution_not_in_flow', { executionId: execution.id })

  if (cancelIfRequested(tx, execution) !== undefined) return { kind: 'cancelled' }
  const group = execution.member?.group
  const verdict = group === undefined || group.total === 0 ? 'satisfied' : group.verdict
  if (verdict === 'satisfied') return { kind: 'not_blocked' }
  if (execution.unwinding !== undefined) return { kind: 'unwinding' }
  const before = bucketOf(execution)
  if (verdict === 'pending') {
    park(tx, execution)
    tx.put(execution)
    shiftCount(tx, flow, execution, before)
    putFlow(tx, flow)
    return { kind: 'parked' }
  }
  const hasEnded = skipMember(tx, execution, firstFailedUpstream(tx, execution.id) ?? execution.id)
  shiftCount(tx, flow, execution, before)
  if (hasEnded) followEnds(tx, flow, [execution])
  putFlow(tx, flow)
  return { kind: 'skipped' }
}
