/**
 * Gives back an execution for which a limit has no permit, before its handler starts. It is blocked behind the gate of the
 * limit, with its place and its attempts as they were before the claim. One that is to be dropped instead ends as skipped,
 * unless it has started before. Idempotent per fence.
 */
import { endExecution } from '../../lifecycle/endings/end-execution.ts'
import { cancelIfRequested } from '../../lifecycle/endings/pending-cancel.ts'
import { refuseUnlessHeld } from '../../lifecycle/fence.ts'
import type { LeaseRefusal } from '../../lifecycle/fence.ts'
import { neededOf } from '../../lifecycle/limits/claim-admission.ts'
import { closeGate } from '../../lifecycle/limits/gates.ts'
import type { Closing } from '../../lifecycle/limits/gates.ts'
import { blockUnadmitted } from '../../lifecycle/phases.ts'
import { gateId } from '../../model/indexes.ts'
import { parseStoredKey } from '../../model/limit-keys.ts'
import type { LimitCause } from '../../model/limit-schema.ts'
import type { Execution, ExecutionId, Fence, Instant, LimitRef } from '../../model/records.ts'
import { refused, refusedFor } from '../../results.ts'
import type { Refused } from '../../results.ts'
import type { Tx } from '../../tx.ts'

export interface BlockInput extends Closing {
  readonly executionId: ExecutionId
  readonly fence: Fence
}

export type BlockResult =
  | { readonly kind: 'blocked'; readonly until: Instant }
  | { readonly kind: 'already_blocked' | 'dropped' | 'already_dropped' | 'cancelled' }
  | LeaseRefusal
  | Refused<'execution_not_found' | 'limit_not_needed'>

export function blockExecution(tx: Tx, input: BlockInput): BlockResult {
  const execution = tx.get('execution', input.executionId)
  if (execution === undefined) return refused('execution_not_found', { executionId: input.executionId })
  if (wasBlocked(execution, input.fence))
    return { kind: execution.state.phase === 'ended' ? 'already_dropped' : 'already_blocked' }
  const refusal = refuseUnlessHeld(tx, execution, input.fence)
  if (refusal !== undefined) return refusal
  const needed = neededOf(execution, input.limit, input.key)
  if (needed === undefined) return refusedFor('limit_not_needed', execution)

  if (cancelIfRequested(tx, execution) !== undefined) return { kind: 'cancelled' }
  if (isDropped(execution, needed, input.cause)) {
    drop(tx, execution, input)
    return { kind: 'dropped' }
  }
  const gate = closeGate(tx, input)
  blockUnadmitted(tx, execution, gate.id)
  return { kind: 'blocked', until: gate.until }
}

/** The attempt of the fence is undone, so only its lease can be compared. */
function wasBlocked({ lastLease }: Execution, fence: Fence): boolean {
  return lastLease?.how === 'blocked' && lastLease.id === fence.leaseId && lastLease.epoch === fence.epoch
}

/** What has started keeps its steps, and waits. So does everything while the limit is not usable at all. */
function isDropped({ state }: Execution, { instead }: LimitRef, cause: LimitCause): boolean {
  if (instead !== 'drop' || cause === 'unknown' || cause === 'holders') return false
  return state.phase === 'active' && state.unadmitted !== undefined && state.unadmitted.startedAt === undefined
}

function drop(tx: Tx, execution: Execution, { limit, key, cause }: Closing): void {
  blockUnadmitted(tx, execution, gateId(limit, key))
  const name = parseStoredKey(key).key
  endExecution(tx, execution, {
    outcome: 'skipped',
    how: 'skipped',
    reason: `limit ${limit}${name === '' ? '' : ` with the key ${name}`} had no permit (${cause})`,
    by: undefined,
    failure: undefined,
    attemptOutcome: undefined,
  })
}
