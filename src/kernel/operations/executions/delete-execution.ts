/** Removes an ended execution before its retention is over. Its id stays taken as after the retention. */
import { removeExecution } from '../../lifecycle/endings/remove-execution.ts'
import { removeEmptyQueues } from '../../lifecycle/queues.ts'
import type { ExecutionId } from '../../model/records.ts'
import { isKeptForParent } from '../../rules/execution-state.ts'
import { refused, refusedFor } from '../../results.ts'
import type { Refused } from '../../results.ts'
import type { Tx } from '../../tx.ts'

export interface DeleteExecutionInput {
  readonly executionId: ExecutionId
  readonly by: string
}

export type DeleteExecutionResult =
  | {
      /** `deleting`: its steps are too many for one call. The caller repeats it. */
      readonly kind: 'deleted' | 'deleting'
    }
  | Refused<
      'execution_not_found' | 'execution_not_ended' | 'execution_in_flow' | 'execution_is_child' | 'children_stopping'
    >

export function deleteExecution(tx: Tx, { executionId, by }: DeleteExecutionInput): DeleteExecutionResult {
  const execution = tx.get('execution', executionId)
  if (execution === undefined || execution.removed !== undefined) return refused('execution_not_found', { executionId })
  if (execution.state.phase !== 'ended') return refusedFor('execution_not_ended', execution)
  if (execution.member !== undefined) return refusedFor('execution_in_flow', execution)
  if (isKeptForParent(execution)) return refusedFor('execution_is_child', execution)
  // A follow-up may wait for them.
  if (execution.journal?.childCancels !== undefined) return refusedFor('children_stopping', execution)

  if (!removeExecution(tx, execution)) return { kind: 'deleting' }
  tx.emit('execution_purged', execution, { by })
  removeEmptyQueues(tx, execution.lane)
  return { kind: 'deleted' }
}
