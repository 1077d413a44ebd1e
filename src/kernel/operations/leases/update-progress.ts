/** Records the progress of a holder. Absent fields keep their last value. */
import { refuseUnlessHeld } from '../../lifecycle/fence.ts'
import type { LeaseRefusal } from '../../lifecycle/fence.ts'
import type { ExecutionId, Fence } from '../../model/records.ts'
import { refused } from '../../results.ts'
import type { Refused } from '../../results.ts'
import type { Tx } from '../../tx.ts'

export interface ProgressInput {
  readonly executionId: ExecutionId
  readonly fence: Fence
  readonly percent?: number | undefined
  readonly message?: string | undefined
}

export type ProgressResult = { readonly kind: 'updated' } | LeaseRefusal | Refused<'execution_not_found'>

export function updateProgress(tx: Tx, input: ProgressInput): ProgressResult {
  const execution = tx.get('execution', input.executionId)
  if (execution === undefined) return refused('execution_not_found', { executionId: input.executionId })
  const refusal = refuseUnlessHeld(tx, execution, input.fence)
  if (refusal !== undefined) return refusal

  const percent = input.percent ?? execution.progress?.percent
  const message = input.message ?? execution.progress?.message
  execution.progress = { percent, message, at: tx.now }
  tx.put(execution)
  tx.emit('progress_updated', execution, { attempt: input.fence.attempt, percent, reason: message })
  return { kind: 'updated' }
}
