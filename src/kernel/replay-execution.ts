/**
 * Makes an ended execution runnable again. History, numbering and epoch go on; the counters of the run start over. In a
 * flow its outbound edges keep what they told: with `subtree`, all that was skipped behind it is replayed as well.
 */
import { rejudge, refuseReplay, replayMember } from './flows/replay-member.ts'
import { flowOf, putFlow } from './flows/flow-counts.ts'
import { walkFlow } from './flows/flow-walk.ts'
import { memberOf } from './flows/graph.ts'
import { REPLAY_CAP } from './limits.ts'
import { makeEligible } from './phases.ts'
import type { Execution, ExecutionId, Flow } from './records.ts'
import { prepareReplay } from './replay.ts'
import { refused, refusedFor } from './results.ts'
import type { Refused } from './results.ts'
import type { Tx } from './tx.ts'

export interface ReplayInput {
  readonly executionId: ExecutionId
  /** Minted by the caller, the same for every repetition of one replay. */
  readonly requestId: string
  readonly reason?: string | undefined
  readonly by?: string | undefined
  /** Replays the members of its flow that were skipped because of it, and theirs in turn. */
  readonly subtree?: boolean | undefined
}

export type ReplayResult =
  | { readonly kind: 'replayed' | 'already_replayed'; readonly replayCount: number }
  | Refused<
      | 'execution_not_found'
      | 'execution_not_ended'
      | 'replays_exhausted'
      | 'flow_ended'
      | 'flow_busy'
      | 'upstream_not_replayed'
      | 'graph_limit_exceeded'
    >

export function replayExecution(tx: Tx, input: ReplayInput): ReplayResult {
  const execution = tx.get('execution', input.executionId)
  if (execution === undefined) return refused('execution_not_found', { executionId: input.executionId })
  if (execution.lastReplay?.requestId === input.requestId) {
    return { kind: 'already_replayed', replayCount: execution.replayCount }
  }
  const state = execution.state
  if (state.phase !== 'ended') return refusedFor('execution_not_ended', execution)
  if (execution.replayCount >= REPLAY_CAP)
    return refused('replays_exhausted', { executionId: execution.id, limit: REPLAY_CAP })
  const flow = flowOf(tx, execution)
  if (flow !== undefined) return replayInFlow(tx, flow, execution, input)

  prepareReplay(tx, execution, { requestId: input.requestId, reason: input.reason, by: input.by })
  makeEligible(tx, execution, { next: execution.next, event: 'execution_replayed', reason: input.reason, by: input.by })
  return { kind: 'replayed', replayCount: execution.replayCount }
}

function replayInFlow(tx: Tx, flow: Flow, execution: Execution, input: ReplayInput): ReplayResult {
  const rejudged = rejudge(tx, flow, execution, input.requestId)
  const isSubtree = input.subtree === true
  const refusal = refuseReplay(tx, flow, execution, rejudged, isSubtree)
  if (refusal !== undefined) return refusal

  const request = { requestId: input.requestId, reason: input.reason, by: input.by }
  replayMember(tx, flow, execution, rejudged, request, isSubtree)
  if (!isSubtree) {
    putFlow(tx, flow)
    return { kind: 'replayed', replayCount: execution.replayCount }
  }
  // Nothing that was skipped may be judged by an upstream that has ended again before it was replayed itself.
  flow.walk = {
    purpose: 'replay',
    fromRank: memberOf(tx, execution).rank,
    fromId: execution.id,
    rootId: execution.id,
  }
  walkFlow(tx, flow)
  return { kind: 'replayed', replayCount: execution.replayCount }
}
