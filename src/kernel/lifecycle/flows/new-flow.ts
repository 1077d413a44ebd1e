/** Builds the record of a new flow from its input. */
import type { Flow, FlowId, FlowState, Instant, LimitRef, OutcomeRule, Submission, Tag } from '../../model/records.ts'
import { longerThanRetention } from '../new-execution.ts'
import { mergeTags } from '../../rules/tags.ts'
import { noMembers } from '../../rules/flow-state.ts'

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
  /** Budgets that every member spends that is added later. */
  readonly budgets?: readonly LimitRef[] | undefined
  /** The schedule that creates it. */
  readonly schedule?: Flow['schedule']
}

export function newFlow(now: Instant, input: FlowInput, state: FlowState, submission: Submission | undefined): Flow {
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
    createdAt: now,
    changedAt: now,
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
    followUp: undefined,
    begins: undefined,
    run: undefined,
    inputSlot: undefined,
    pastRequests: undefined,
    budgets: input.budgets,
    schedule: input.schedule,
    awaitedBy: undefined,
  }
}
