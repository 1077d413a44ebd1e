/** Creates an execution. Idempotent per id; `ifExists` and the input decide how a repeated id is handled. */
import { queueOf, refuseQueues, removeEmptyQueues, enterQueue } from '../../lifecycle/queues.ts'
import type { Execution, ExecutionId, Instant } from '../../model/records.ts'
import { isKeptForParent } from '../../rules/execution-state.ts'
import { replacementOf } from '../../lifecycle/endings/replacement.ts'
import { refusedFor } from '../../results.ts'
import type { Refused } from '../../results.ts'
import { publicState } from '../../model/public-state.ts'
import type { PublicState } from '../../model/public-state.ts'
import type { Tx } from '../../tx.ts'
import { isPastRequest, nextRun, runOnceMore, setFollowUp } from '../../lifecycle/follow-up.ts'
import { delayOf, newExecution, storeExecution } from '../../lifecycle/new-execution.ts'
import type { CreateInput } from '../../lifecycle/new-execution.ts'
import { refuseHeld } from '../../lifecycle/lanes.ts'
import { submitShaped } from '../../lifecycle/shaping/submit-shaped.ts'

type CreatedKind = 'created' | 'replaced' | 'joined' | 'follow_up' | 'follow_up_replaced'

export type CreateResult =
  | {
      /** `follow_up`: it runs once more when the present run ends; `follow_up_replaced`: in the place of a pending one. */
      readonly kind: CreatedKind
      readonly executionId: ExecutionId
      readonly state: PublicState
      readonly at: Instant
    }
  | Refused<
      | 'execution_exists'
      | 'input_differs'
      | 'execution_in_progress'
      | 'execution_in_flow'
      | 'execution_is_child'
      | 'children_stopping'
      | 'too_many_needs'
      | 'lane_draining'
      | 'lane_disabled'
      | 'singleton_taken'
    >

export function createExecution(tx: Tx, input: CreateInput): CreateResult {
  const existing = tx.get('execution', input.executionId)
  if (existing === undefined) return createNew(tx, input)
  if (existing.requestId === input.requestId || isPastRequest(existing, input.requestId)) {
    return answer('created', existing)
  }
  if (existing.followUp !== undefined && existing.followUp.requestId === input.requestId)
    return followUpAnswer(existing)
  const isNewRun = input.ifExists === 'replace' || input.ifExists === 'after'
  const held = isNewRun ? refuseHeld(tx, input) : undefined
  if (held !== undefined) return held
  switch (input.ifExists) {
    case undefined:
    case 'join':
      // A caller that joined an execution of another task would wait for a result of another type.
      if (existing.task !== input.task) return refusedFor('execution_exists', existing)
      if (input.ifExists === undefined && hasOtherInput(existing, input)) return refusedFor('input_differs', existing)
      return answer('joined', existing)
    case 'reject':
      return refusedFor('execution_exists', existing)
    case 'replace':
      return existing.removed === undefined ? replaceExecution(tx, existing, input) : createAnew(tx, existing, input)
    case 'after':
      return existing.removed === undefined ? runAfter(tx, existing, input) : createAnew(tx, existing, input)
  }
}

function createNew(tx: Tx, input: CreateInput): CreateResult {
  if (input.shaping === undefined) return refuseHeld(tx, input) ?? storeNew(tx, newExecution(tx, input, 0), input)
  const shaped = submitShaped(tx, input, input.shaping)
  return shaped.kind === 'refused' ? shaped : answer(shaped.kind, shaped.execution)
}

/** Nothing but the id is left of an earlier execution. */
function createAnew(tx: Tx, existing: Execution, input: CreateInput): CreateResult {
  return storeNew(tx, { ...newExecution(tx, input, 0), run: nextRun(existing) }, input)
}

function storeNew(tx: Tx, execution: Execution, input: CreateInput): CreateResult {
  const refusal = refuseQueues(tx, [input])
  if (refusal !== undefined) return refusal
  enterQueue(tx, execution)
  storeExecution(tx, execution, input)
  tx.emit('execution_created', execution, { until: delayOf(execution) })
  return answer('created', execution)
}

/** Runs an execution once more: at once if it has ended and its children are cancelled, otherwise when that is done. */
function runAfter(tx: Tx, existing: Execution, input: CreateInput): CreateResult {
  // A second run of a member would not count in its flow.
  if (existing.member !== undefined) return refusedFor('execution_in_flow', existing)
  if (isKeptForParent(existing)) return refusedFor('execution_is_child', existing)
  const refusal = refuseQueues(tx, [input])
  if (refusal !== undefined) return refusal
  // The journal of the next run would not know of children that are still to be cancelled.
  if (existing.state.phase === 'ended' && existing.journal?.childCancels === undefined) {
    runOnceMore(tx, existing, input)
    return answer('replaced', existing)
  }
  setFollowUp(tx, existing, input)
  return followUpAnswer(existing)
}

function followUpAnswer(existing: Execution): CreateResult {
  return answer(existing.followUp?.hasDisplaced === true ? 'follow_up_replaced' : 'follow_up', existing)
}

/** Whether both inputs are known and differ. Executions of earlier versions have no digest. */
function hasOtherInput(existing: Execution, { digest }: CreateInput): boolean {
  return existing.digest !== undefined && digest !== undefined && existing.digest !== digest
}

/** Replaces an execution that has not started, or an ended one. Any other has had side effects and is refused. */
function replaceExecution(tx: Tx, existing: Execution, input: CreateInput): CreateResult {
  const phase = existing.state.phase
  // A member cannot be replaced without its flow.
  if (existing.member !== undefined) return refusedFor('execution_in_flow', existing)
  if (isKeptForParent(existing)) return refusedFor('execution_is_child', existing)
  const hasStarted = phase === 'active' || phase === 'suspended' || existing.startedAt !== undefined
  if (phase !== 'ended' && hasStarted) return refusedFor('execution_in_progress', existing)
  if (existing.journal?.childCancels !== undefined) return refusedFor('children_stopping', existing)
  const refusal = refuseQueues(tx, [input])
  if (refusal !== undefined) return refusal
  const execution = replacementOf(tx, existing, input)
  storeExecution(tx, execution, input)
  if (queueOf(existing) !== queueOf(execution)) removeEmptyQueues(tx, existing.lane)
  tx.emit('execution_replaced', execution, { until: delayOf(execution) })
  return answer('replaced', execution)
}

function answer(kind: CreatedKind, execution: Execution): CreateResult {
  return { kind, executionId: execution.id, state: publicState(execution.state), at: execution.createdAt }
}
