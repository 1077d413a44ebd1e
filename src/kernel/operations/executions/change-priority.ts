/** Changes the priority of an execution. If it is not claimable, the priority applies when it becomes so. */
import type { ExecutionId } from '../../model/records.ts'
import { takeTurn } from '../../lifecycle/turns.ts'
import { refused, refusedFor } from '../../results.ts'
import type { Refused } from '../../results.ts'
import type { Tx } from '../../tx.ts'

export interface PriorityInput {
  readonly executionId: ExecutionId
  readonly priority: number
}

export type PriorityResult =
  | { readonly kind: 'changed' | 'unchanged'; readonly from: number; readonly to: number }
  | Refused<'execution_not_found' | 'execution_ended'>

export function changePriority(tx: Tx, input: PriorityInput): PriorityResult {
  const execution = tx.get('execution', input.executionId)
  if (execution === undefined) return refused('execution_not_found', { executionId: input.executionId })
  if (execution.state.phase === 'ended') return refusedFor('execution_ended', execution)
  const from = execution.priority
  if (from === input.priority) return { kind: 'unchanged', from, to: from }

  execution.priority = input.priority
  // Each priority counts its own turns.
  takeTurn(tx, execution)
  tx.put(execution)
  tx.emit('priority_changed', execution, { priority: input.priority })
  return { kind: 'changed', from, to: input.priority }
}
