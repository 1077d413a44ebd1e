/** Creates a flow without members. If held, nothing runs before it is sealed, so it can be built in several calls. */
import { flowSubject } from '../../model/events.ts'
import type { Flow, FlowId, FlowState, Instant } from '../../model/records.ts'
import { newFlow } from '../../lifecycle/flows/new-flow.ts'
import type { FlowInput } from '../../lifecycle/flows/new-flow.ts'
import { refused } from '../../results.ts'
import type { Refused } from '../../results.ts'
import type { Tx } from '../../tx.ts'
import { publicFlowState } from '../../rules/flow-state.ts'
import type { PublicFlowState } from '../../rules/flow-state.ts'

export interface CreateFlowInput extends FlowInput {
  readonly hold: boolean
}

export type CreateFlowResult =
  | {
      readonly kind: 'created' | 'already_created'
      readonly flowId: FlowId
      readonly state: PublicFlowState
      readonly at: Instant
    }
  | Refused<'flow_exists'>

export function createFlow(tx: Tx, input: CreateFlowInput): CreateFlowResult {
  const existing = tx.get('flow', input.flowId)
  if (existing !== undefined) {
    const isSame = existing.name === input.name && existing.namespace === input.namespace
    const isLeaving = existing.walk?.purpose === 'remove'
    if (!isSame || isLeaving || existing.submission !== undefined)
      return refused('flow_exists', { flowId: existing.id })
    const isRepeated = existing.requestId === input.requestId
    return answer(isRepeated ? 'created' : 'already_created', existing)
  }
  const state: FlowState = input.hold ? { phase: 'held', until: undefined } : { phase: 'open' }
  const flow = newFlow(tx.now, input, state, undefined)
  tx.put(flow)
  tx.emit('flow_created', flowSubject(flow), {})
  return answer('created', flow)
}

function answer(kind: 'created' | 'already_created', flow: Flow): CreateFlowResult {
  return { kind, flowId: flow.id, state: publicFlowState(flow), at: flow.createdAt }
}
