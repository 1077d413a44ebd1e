/** Who wants an execution cancelled that would otherwise go on: whoever asked its holder, or whoever cancelled its flow. */
import type { Execution } from '../model/records.ts'
import type { Tx } from '../tx.ts'
import { flowOf } from './flow-counts.ts'
import { stopsMembers } from '../rules/flow-state.ts'

export interface CancelWish {
  readonly reason: string
  readonly by: string
}

export function cancelWish(tx: Tx, execution: Execution): CancelWish | undefined {
  const state = execution.state
  if (state.phase === 'active' && state.cancel !== undefined) {
    return { reason: state.cancel.reason, by: state.cancel.by }
  }
  const flow = flowOf(tx, execution)
  if (flow === undefined || !stopsMembers(flow) || flow.state.phase !== 'cancelled') return undefined
  return { reason: flow.state.reason, by: flow.state.by }
}
