/** Lets the executions of an order run that wait behind a failed one. Idempotent. */
import { continueLine } from '../../lifecycle/shaping/line.ts'
import type { ExecutionId } from '../../model/records.ts'
import { refused } from '../../results.ts'
import type { Refused } from '../../results.ts'
import type { Tx } from '../../tx.ts'

export interface ContinueOrderInput {
  /** The execution that has failed. */
  readonly executionId: ExecutionId
  readonly reason?: string | undefined
  readonly by?: string | undefined
}

export type ContinueOrderResult =
  { readonly kind: 'order_continued' | 'order_not_held' } | Refused<'execution_not_found'>

export function continueOrder(tx: Tx, { executionId, reason, by }: ContinueOrderInput): ContinueOrderResult {
  const execution = tx.get('execution', executionId)
  if (execution === undefined) return refused('execution_not_found', { executionId })
  if (!continueLine(tx, execution)) return { kind: 'order_not_held' }
  tx.emit('order_continued', execution, { reason, by })
  return { kind: 'order_continued' }
}
