/** Extends a lease that is still valid, and returns a pending cancel request. */
import { refuseUnlessHeld } from '../../lifecycle/fence.ts'
import type { LeaseRefusal } from '../../lifecycle/fence.ts'
import { timeoutFrom } from '../../lifecycle/phases.ts'
import type { ExecutionId, Fence, Instant } from '../../model/records.ts'
import { refused } from '../../results.ts'
import type { Refused } from '../../results.ts'
import type { Tx } from '../../tx.ts'

export interface RenewInput {
  readonly executionId: ExecutionId
  readonly fence: Fence
  readonly leaseTtlMs: number
  /** The handler starts now, or has not started yet: the time since the claim does not count against its timeout. */
  readonly beginsNow?: boolean | undefined
}

export type RenewResult =
  | {
      readonly kind: 'renewed'
      readonly expiresAt: Instant
      readonly at: Instant
      readonly cancel: { readonly reason: string; readonly by: string; readonly forceAt: Instant } | undefined
    }
  | LeaseRefusal
  | Refused<'execution_not_found'>

export function renewLease(tx: Tx, input: RenewInput): RenewResult {
  const execution = tx.get('execution', input.executionId)
  if (execution === undefined) return refused('execution_not_found', { executionId: input.executionId })
  const refusal = refuseUnlessHeld(tx, execution, input.fence)
  if (refusal !== undefined) return refusal
  const state = execution.state
  if (state.phase !== 'active') return tx.fault('a leased execution is not active', execution.id)

  state.lease.expiresAt = tx.now + input.leaseTtlMs
  if (input.beginsNow === true) {
    state.runningSince = tx.now
    state.timeoutAt = timeoutFrom(execution, tx.now)
  }
  tx.put(execution)
  const cancel = state.cancel
  return {
    kind: 'renewed',
    expiresAt: state.lease.expiresAt,
    at: tx.now,
    cancel: cancel === undefined ? undefined : { reason: cancel.reason, by: cancel.by, forceAt: cancel.forceAt },
  }
}
