/** Seals a flow: it accepts no more members or edges, its held members start, and it ends with the last one. */
import { membersIndex } from '../../model/indexes.ts'
import { MEMBER_PAGE_MAX, NAMED_MEMBER_MAX } from '../../limits.ts'
import type { Flow, FlowId } from '../../model/records.ts'
import { refused } from '../../results.ts'
import type { Refused } from '../../results.ts'
import type { Tx } from '../../tx.ts'
import { isShort } from '../../rules/edge-group.ts'
import { putFlow } from '../../lifecycle/flow-counts.ts'
import { enterSealed } from '../../lifecycle/flow-phases.ts'
import { findFlow, flowNotFound } from '../../lifecycle/flows/flow-guards.ts'
import { newWalk, publicFlowState } from '../../rules/flow-state.ts'
import type { PublicFlowState } from '../../rules/flow-state.ts'
import { walkFlow } from '../../lifecycle/flows/flow-walk.ts'

export interface SealInput {
  readonly flowId: FlowId
}

export type SealResult =
  | { readonly kind: 'sealed' | 'already_sealed'; readonly state: PublicFlowState; readonly memberCount: number }
  | Refused<'flow_not_found' | 'flow_ended' | 'flow_sealed' | 'flow_busy' | 'unreachable_quorum'>

export function sealFlow(tx: Tx, input: SealInput): SealResult {
  const flow = findFlow(tx, input.flowId)
  if (flow === undefined) return flowNotFound(input.flowId)
  const phase = flow.state.phase
  if (phase === 'sealed' || phase === 'ended') return answer('already_sealed', flow)
  if (phase === 'cancelled') return refused('flow_ended', { flowId: flow.id })
  // A submission in several calls is sealed by its last call.
  if (flow.submission !== undefined) return refused('flow_sealed', { flowId: flow.id })
  if (flow.walk !== undefined) return refused('flow_busy', { flowId: flow.id })
  if (flow.shortGroupCount > 0) {
    return refused('unreachable_quorum', { flowId: flow.id, nodes: shortMembers(tx, flow) })
  }

  const wasHeld = phase === 'held'
  enterSealed(tx, flow)
  if (wasHeld) {
    flow.walk = newWalk('release')
    walkFlow(tx, flow)
  } else {
    putFlow(tx, flow)
  }
  return answer('sealed', flow)
}

/** Returns the names of a few short members among the first page. */
function shortMembers(tx: Tx, flow: Flow): string[] {
  const names: string[] = []
  for (const execution of tx.scan({ index: membersIndex(flow.id), limit: MEMBER_PAGE_MAX }, 'execution')) {
    const member = execution.member
    if (isShort(execution) && names.length < NAMED_MEMBER_MAX) names.push(member?.name ?? '')
  }
  return names
}

function answer(kind: 'sealed' | 'already_sealed', flow: Flow): SealResult {
  return { kind, state: publicFlowState(flow), memberCount: flow.memberCount }
}
