/** A caller that is bound to a namespace cannot reach the executions, flows and workers of another one, whichever operation names them. */
import type { ExecutionId, FlowId } from '../model/records.ts'
import { refused } from '../results.ts'
import type { Refused } from '../results.ts'
import type { Tx } from '../tx.ts'

/** The records that inputs of operations name. */
interface NamingInput {
  /** The namespace that the caller is bound to. Without it, the caller may reach all. */
  readonly within?: string | undefined
  readonly executionId?: ExecutionId | undefined
  readonly upstreamId?: ExecutionId | undefined
  readonly downstreamId?: ExecutionId | undefined
  readonly flowId?: FlowId | undefined
  readonly workerInstanceId?: string | undefined
}

type Outside = Refused<'execution_not_found' | 'flow_not_found' | 'worker_not_found'>

/** Refuses an operation on a record of another namespace in the same words as if there were none. */
export function refuseOutside(tx: Tx, input: object): Outside | undefined {
  const { within, executionId, upstreamId, downstreamId, flowId, workerInstanceId } = input as NamingInput
  if (within === undefined) return undefined
  for (const id of [executionId, upstreamId, downstreamId]) {
    const execution = id === undefined ? undefined : tx.get('execution', id)
    if (execution !== undefined && execution.namespace !== within) {
      return refused('execution_not_found', { executionId: execution.id })
    }
  }
  const flow = flowId === undefined ? undefined : tx.get('flow', flowId)
  if (flow !== undefined && flow.namespace !== within) return refused('flow_not_found', { flowId: flow.id })
  const worker = workerInstanceId === undefined ? undefined : tx.get('worker', workerInstanceId)
  if (worker === undefined || worker.namespace === within) return undefined
  return refused('worker_not_found', { workerInstanceId: worker.id })
}
