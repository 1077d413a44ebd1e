/** Creates a flow without members. If held, nothing runs before it is sealed, so it can be built in several calls. */
import { flowSubject } from '../../model/events.ts'
import type { Flow, FlowId, FlowState, Instant, OutcomeRule, Submission, Tag } from '../../model/records.ts'
import { longerThanRetention } from '../../lifecycle/new-execution.ts'
import { refused } from '../../results.ts'
import type { Refused } from '../../results.ts'
import { mergeTags } from '../../rules/tags.ts'
import type { Tx } from '../../tx.ts'
import { noMembers, publicFlowState } from '../../rules/flow-state.ts'
import type { PublicFlowState } from '../../rules/flow-state.ts'

export interface FlowInput {
  readonly flowId: FlowId
  readonly key?: string | undefined
  /** Minted by the caller, the same for every repetition of one call. */
  readonly requestId?: string | undefined
  readonly namespace: string
  readonly name: string
  readonly tags: readonly Tag[]
  readonly outcomeRule: OutcomeRule
  readonly retentionMs: number
  /** How long after its end the id stays taken, if that is longer than the retention. */
  readonly dedupeMs?: number | undefined
}

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
  const flow = newFlow(tx, input, state, undefined)
  tx.put(flow)
  tx.emit('flow_created', flowSubject(flow), {})
  return answer('created', flow)
}

export function newFlow(tx: Tx, input: FlowInput, state: FlowState, submission: Submission | undefined): Flow {
  return {
    type: 'flow',
    id: input.flowId,
    key: input.key,
    requestId: input.requestId,
    namespace: input.namespace,
    name: input.name,
    tags: mergeTags([], input.tags, []),
    outcomeRule: input.outcomeRule,
    retentionMs: input.retentionMs,
    createdAt: tx.now,
    changedAt: tx.now,
    state,
    submission,
    memberCount: 0,
    edgeCount: 0,
    counts: noMembers(),
    failedSinkCount: 0,
    shortGroupCount: 0,
    cancelsLosers: false,
    hasReplays: false,
    walk: undefined,
    version: 0,
    ignoredCount: undefined,
    input: undefined,
    dedupeMs: longerThanRetention(input.dedupeMs, input.retentionMs),
    removedAt: undefined,
  }
}

function answer(kind: 'created' | 'already_created', flow: Flow): CreateFlowResult {
  return { kind, flowId: flow.id, state: publicFlowState(flow), at: flow.createdAt }
}
