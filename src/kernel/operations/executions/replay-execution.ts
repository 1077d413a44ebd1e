/**
 * Makes an ended execution runnable again. History, numbering and epoch continue; the counters of the run are reset. In
 * a flow, resolved outbound edges stay as they are; with `subtree`, the members that were skipped because of it are
 * replayed too.
 */
import { recomputeGroup, refuseReplay, replayMember } from '../../lifecycle/flows/replay-member.ts'
import { flowOf, putFlow } from '../../lifecycle/flow-counts.ts'
import { walkFlow } from '../../lifecycle/flows/flow-walk.ts'
import { memberOf } from '../../lifecycle/flows/rank-order.ts'
import { cutFrom, isCut } from '../../rules/journal-ids.ts'
import { findStep } from '../../lifecycle/find-step.ts'
import type { StepKind } from '../../model/journal-schema.ts'
import { isKeptForParent } from '../../rules/execution-state.ts'
import { REPLAY_CAP } from '../../limits.ts'
import { makeEligible, revive } from '../../lifecycle/phases.ts'
import { rejoinLine } from '../../lifecycle/shaping/line.ts'
import type { Execution, ExecutionId, Flow } from '../../model/records.ts'
import { prepareReplay } from '../../lifecycle/prepare-replay.ts'
import { refused, refusedFor } from '../../results.ts'
import type { Refused } from '../../results.ts'
import type { Tx } from '../../tx.ts'

export interface ReplayInput {
  readonly executionId: ExecutionId
  /** Minted by the caller, the same for every repetition of one replay. */
  readonly requestId: string
  readonly reason?: string | undefined
  readonly by?: string | undefined
  /** Replays the members of its flow that were skipped because of it, transitively. */
  readonly subtree?: boolean | undefined
  /**
   * Cuts the steps from here on, so that they run again: from a step, or all. If absent, all steps are kept. An execution that
   * has undone its steps always starts from the beginning.
   */
  readonly from?: ReplayFrom | undefined
}

export type ReplayFrom = { readonly kind: 'start' } | { readonly kind: 'step'; readonly name: string }

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
      | 'retention_over'
      | 'step_not_found'
      | 'execution_is_child'
      | 'children_stopping'
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
  if (execution.removed !== undefined || execution.journal?.isRemoving === true)
    return refused('retention_over', { executionId: execution.id })
  // A new run would take over children that are about to be cancelled.
  if (execution.journal?.childCancels !== undefined) return refusedFor('children_stopping', execution)
  // The handler of its parent has the result, or will get it.
  if (state.outcome === 'completed' && isKeptForParent(execution)) return refusedFor('execution_is_child', execution)
  // Steps that were undone must not be taken for done.
  const from = execution.unwinding === undefined ? input.from : { kind: 'start' as const }
  const cut = from === undefined ? undefined : firstCut(tx, execution, from)
  if (from?.kind === 'step' && cut === undefined) {
    return refused('step_not_found', { executionId: execution.id, step: from.name })
  }
  const flow = flowOf(tx, execution)
  if (flow !== undefined) return replayInFlow(tx, flow, execution, { input, cut })

  cutSteps(execution, cut)
  prepareReplay(tx, execution, { requestId: input.requestId, reason: input.reason, by: input.by })
  if (mustWait(tx, execution)) {
    revive(tx, execution, { requestId: input.requestId, reason: input.reason, by: input.by }, 'order')
    return { kind: 'replayed', replayCount: execution.replayCount }
  }
  makeEligible(tx, execution, { next: execution.next, event: 'execution_replayed', reason: input.reason, by: input.by })
  return { kind: 'replayed', replayCount: execution.replayCount }
}

/** Whether another execution of its shaping key must end first. */
function mustWait(tx: Tx, execution: Execution): boolean {
  return execution.shaping?.place !== undefined && rejoinLine(tx, execution, execution.shaping)
}

interface Replay {
  readonly input: ReplayInput
  readonly cut: StepCut | undefined
}

/** Where the cut of a replay begins. */
interface StepCut {
  readonly position: number
  /** How many compensations were registered before it. */
  readonly compensationsBefore?: number | undefined
}

const STEP_KINDS: readonly StepKind[] = ['call', 'now', 'waitpoint', 'sleep', 'wait', 'child', 'join']

/** Returns the first step of a name, of any kind. */
function firstCut(tx: Tx, execution: Execution, from: ReplayFrom): StepCut | undefined {
  if (from.kind === 'start') return { position: 0 }
  let first: StepCut | undefined = undefined
  for (const kind of STEP_KINDS) {
    const step = findStep(tx, execution, kind, from.name)
    if (step === undefined || execution.journal === undefined || isCut(execution.journal, step.position)) continue
    if (first === undefined || step.position < first.position) first = step
  }
  return first
}

function cutSteps(execution: Execution, cut: StepCut | undefined): void {
  const journal = execution.journal
  if (cut !== undefined && journal !== undefined) cutFrom(journal, cut.position, cut.compensationsBefore ?? 0)
}

function replayInFlow(tx: Tx, flow: Flow, execution: Execution, { input, cut }: Replay): ReplayResult {
  const recomputed = recomputeGroup(tx, flow, execution, input.requestId)
  const isSubtree = input.subtree === true
  const refusal = refuseReplay(tx, flow, execution, { recomputed, isSubtree })
  if (refusal !== undefined) return refusal

  cutSteps(execution, cut)
  const request = { requestId: input.requestId, reason: input.reason, by: input.by }
  replayMember(tx, flow, execution, { recomputed, request, isSubtree })
  if (!isSubtree) {
    putFlow(tx, flow)
    return { kind: 'replayed', replayCount: execution.replayCount }
  }
  // A skipped member must be replayed before an upstream that ends again can decide its group.
  flow.walk = {
    purpose: 'replay',
    fromRank: memberOf(tx, execution).rank,
    fromId: execution.id,
    rootId: execution.id,
  }
  walkFlow(tx, flow)
  return { kind: 'replayed', replayCount: execution.replayCount }
}
