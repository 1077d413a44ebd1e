/** Revokes a lease by an operator. The execution is offered to other workers at once, as if the lease had expired. */
import { requeueLostLease } from '../../lifecycle/endings/lost-lease.ts'
import type { ExecutionId, Outcome } from '../../model/records.ts'
import { refused, refusedFor } from '../../results.ts'
import type { Refused } from '../../results.ts'
import type { Tx } from '../../tx.ts'

export interface RevokeInput {
  readonly executionId: ExecutionId
  /** If given, only this lease is revoked. */
  readonly leaseId?: string | undefined
  readonly reason: string
  readonly by: string
}

export type RevokeResult =
  | { readonly kind: 'revoked'; readonly leaseId: string; readonly ended: Outcome | undefined }
  | { readonly kind: 'already_revoked' }
  | Refused<'execution_not_found' | 'no_active_lease' | 'stale_lease'>

export function revokeLease(tx: Tx, input: RevokeInput): RevokeResult {
  const execution = tx.get('execution', input.executionId)
  if (execution === undefined) return refused('execution_not_found', { executionId: input.executionId })
  const state = execution.state
  if (state.phase !== 'active') {
    const last = execution.lastLease
    const isRepeat = last !== undefined && last.how === 'lease_revoked' && (input.leaseId ?? last.id) === last.id
    return isRepeat ? { kind: 'already_revoked' } : refusedFor('no_active_lease', execution)
  }
  if (input.leaseId !== undefined && input.leaseId !== state.lease.id) return refusedFor('stale_lease', execution)

  const leaseId = state.lease.id
  const ended = requeueLostLease(tx, execution, { how: 'lease_revoked', reason: input.reason, by: input.by })
  return { kind: 'revoked', leaseId, ended }
}
