/**
 * Gives back an execution for which a limit has no permit, before its handler starts. It is blocked behind the gate of the
 * limit, with its place and its attempts as they were before the claim. Idempotent per fence.
 */
import { cancelIfRequested } from '../../lifecycle/endings/pending-cancel.ts'
import { refuseUnlessHeld } from '../../lifecycle/fence.ts'
import type { LeaseRefusal } from '../../lifecycle/fence.ts'
import { closeGate } from '../../lifecycle/limits/gates.ts'
import type { Closing } from '../../lifecycle/limits/gates.ts'
import { blockUnadmitted } from '../../lifecycle/phases.ts'
import type { Execution, ExecutionId, Fence, Instant } from '../../model/records.ts'
import { refused, refusedFor } from '../../results.ts'
import type { Refused } from '../../results.ts'
import type { Tx } from '../../tx.ts'

export interface BlockInput extends Closing {
  readonly executionId: ExecutionId
  readonly fence: Fence
}

export type BlockResult =
  | { readonly kind: 'blocked'; readonly until: Instant }
  | { readonly kind: 'already_blocked' | 'cancelled' }
  | LeaseRefusal
  | Refused<'execution_not_found' | 'limit_not_needed'>

export function blockExecution(tx: Tx, input: BlockInput): BlockResult {
  const execution = tx.get('execution', input.executionId)
  if (execution === undefined) return refused('execution_not_found', { executionId: input.executionId })
  if (wasBlocked(execution, input.fence)) return { kind: 'already_blocked' }
  const refusal = refuseUnlessHeld(tx, execution, input.fence)
  if (refusal !== undefined) return refusal
  if (!needs(execution, input)) return refusedFor('limit_not_needed', execution)

  if (cancelIfRequested(tx, execution) !== undefined) return { kind: 'cancelled' }
  const gate = closeGate(tx, input)
  blockUnadmitted(tx, execution, gate.id)
  return { kind: 'blocked', until: gate.until }
}

/** The attempt of the fence is undone, so only its lease can be compared. */
function wasBlocked({ lastLease }: Execution, fence: Fence): boolean {
  return lastLease?.how === 'blocked' && lastLease.id === fence.leaseId && lastLease.epoch === fence.epoch
}

function needs({ limits }: Execution, { limit, key }: Closing): boolean {
  for (const needed of limits ?? []) if (needed.limit === limit && needed.key === key) return true
  return false
}
