/** Reads the next page of the upstream results of a member. */
import type { ExecutionId, FlowId } from '../../model/records.ts'
import { INPUT_PAGE_MAX } from '../../limits.ts'
import { refused } from '../../results.ts'
import type { Refused } from '../../results.ts'
import type { Tx } from '../../tx.ts'
import { readEdgeGuard } from '../../lifecycle/flows/inbound.ts'
import { lookUpInputs, sendInputs } from '../../lifecycle/flows/upstream-results.ts'
import type { InputPage } from '../../lifecycle/flows/upstream-results.ts'

export interface ReadInputsInput {
  readonly executionId: ExecutionId
  /** Its flow. A hint that saves a load. */
  readonly flowId?: FlowId | undefined
  readonly from?: ExecutionId | undefined
}

export type ReadInputsResult = { readonly kind: 'read'; readonly page: InputPage } | Refused<'execution_not_found'>

export function readInputs(tx: Tx, input: ReadInputsInput): ReadInputsResult {
  const execution = tx.get('execution', input.executionId)
  if (execution === undefined) return refused('execution_not_found', { executionId: input.executionId })
  readEdgeGuard(tx, execution)
  return { kind: 'read', page: sendInputs(tx, lookUpInputs(tx, execution, input.from, INPUT_PAGE_MAX)) }
}
